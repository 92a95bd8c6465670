"""Benchmarks: what previews and the rules of the pack cost."""
