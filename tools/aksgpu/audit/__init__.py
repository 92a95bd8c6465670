"""The command audit: all deployed stacks, by what is stored of them."""
