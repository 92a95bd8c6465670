"""A page for browsers that shows what a rehearsal does; it changes nothing."""
