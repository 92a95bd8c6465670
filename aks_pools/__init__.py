"""What one agent pool of AKS is, read from a resource of any provider."""
