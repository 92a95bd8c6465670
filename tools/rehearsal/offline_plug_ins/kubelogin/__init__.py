"""A `kubelogin` for rehearsals, which signs in to clusters with Entra."""
