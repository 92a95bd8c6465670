"""Whether the GPUs of a stack's cluster can be used, and if not, why not."""
