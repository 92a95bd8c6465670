"""Measures, side by side, in one run."""
