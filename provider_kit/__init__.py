"""What a Pulumi provider in Python stands on: serving, shapes, values and secrets, and Azure."""
