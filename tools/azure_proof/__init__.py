"""The proof on real Azure: what this project promises, step by step, with evidence."""
