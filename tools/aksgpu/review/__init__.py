"""Reviews stacks: what a preview would change, what the rules say of it, in one report."""
