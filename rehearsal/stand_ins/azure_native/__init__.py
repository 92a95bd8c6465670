"""A stand-in for the azure-native plug-in, whose binary no package registry has."""
