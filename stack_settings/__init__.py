"""The settings of a stack file: typed, with all mistakes reported at once, each by its key."""

# The prefix of the keys.
PROJECT = "aks-gpu"
