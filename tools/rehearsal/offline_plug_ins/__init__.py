"""Offline plug-ins, for those whose binaries no package registry has."""

from pathlib import Path

# The start of the providers in paths that the offline azure-native makes up.
MADE_UP = "MadeUp."
FOLDER = Path(__file__).resolve().parent
