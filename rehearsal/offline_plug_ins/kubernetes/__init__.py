"""A stand-in for Pulumi's kubernetes plug-in, whose binary is in no package registry."""
