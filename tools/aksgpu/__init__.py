"""The commands for people: what `aksgpu` can do."""
