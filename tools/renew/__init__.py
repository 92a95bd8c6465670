"""Renews tables of facts from the public lists that they come from."""
