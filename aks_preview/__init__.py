"""What azure-native cannot say: a Pulumi provider of our own, and how it speaks to ARM."""
