"""Microsoft.Compute: sizes, and the quota of their cores."""
