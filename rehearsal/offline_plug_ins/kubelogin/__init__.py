"""A stand-in for `kubelogin`, which signs in to clusters with Entra."""
