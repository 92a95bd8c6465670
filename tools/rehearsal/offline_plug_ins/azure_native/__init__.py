"""The offline azure-native plug-in, whose binary is in no package registry."""
