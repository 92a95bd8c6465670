"""What workflows do besides running commands. Only the standard library: nothing to install."""
