"""Offline plug-ins, for those whose binaries no package registry has."""
