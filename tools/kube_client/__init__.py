"""Kubernetes as a client sees it: kubeconfigs, and requests to an API server."""
