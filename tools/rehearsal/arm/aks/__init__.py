"""Microsoft.ContainerService: managed clusters and their agent pools."""
