"""Building blocks of Pulumi providers in Python: serving, shapes, values, secrets, and ARM."""
