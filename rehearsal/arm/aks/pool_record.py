"""How an agent pool is kept: its type, and the hidden marks beside its properties."""

TYPE = "Microsoft.ContainerService/managedClusters/agentPools"
# The value of the mark `image` of a pool whose image brings driver and device plugin.
SPECIALISED = "specialised"
# How many nodes it was given, where those are not as many as its `count` says.
ALLOCATED = "allocated"
