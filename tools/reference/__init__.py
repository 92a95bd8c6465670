"""Makes the reference pages in docs/reference from the code."""
