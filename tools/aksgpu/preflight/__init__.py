"""Whether Azure would take a stack: asked of Azure before anything is created."""
