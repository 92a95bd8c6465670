"""The Pulumi provider aks-preview, for AKS features that azure-native does not support."""
