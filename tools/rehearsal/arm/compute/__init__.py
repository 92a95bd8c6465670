"""Microsoft.Compute: sizes, the quota of their cores, and the scores of spot machines."""
