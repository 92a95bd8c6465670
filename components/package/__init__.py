"""The components as a Pulumi package, for programs in every language."""
