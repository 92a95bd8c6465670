"""A stand-in for the azure-native plug-in, whose binary is in no package registry."""
