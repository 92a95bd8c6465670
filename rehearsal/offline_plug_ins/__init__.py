"""Stand-ins for the plug-ins whose binaries no package registry has."""
