"""Building blocks of Pulumi providers in Python: serving, values, secrets, and ARM."""
