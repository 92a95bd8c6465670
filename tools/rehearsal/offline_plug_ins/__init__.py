"""Offline plug-ins, for those whose binaries no package registry has."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
