"""Pulumi's kubernetes plug-in, offline, whose binary is in no package registry."""
