"""The Kubernetes behind the rehearsal's clusters: real control planes, played nodes."""
