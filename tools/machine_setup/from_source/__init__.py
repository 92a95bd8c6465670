"""Builds programs from Go modules, on machines that reach package registries and nothing else."""
