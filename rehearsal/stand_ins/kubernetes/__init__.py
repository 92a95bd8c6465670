"""A stand-in for Pulumi's kubernetes plug-in, whose binary no package registry has."""
