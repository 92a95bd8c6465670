"""Benchmarks: measurements that compare variants within one run."""
