"""What the workflows do beyond calling commands. Standard library alone: no installation first."""
