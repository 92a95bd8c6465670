"""The versions of Pulumi, Kubernetes, Helm, kubelogin and actionlint that this project uses."""

import importlib.metadata

# The version that is downloaded or built, and with which the tests run.
PULUMI = "3.259.0"

# The oldest `pulumi` that is used from PATH. It is the same version: the program, the policy pack
# and the provider are not tested with older engines.
LOWEST_PULUMI = PULUMI

# The parts of a rehearsed cluster. The Go modules of `kubernetes_source/` have the same versions.
KUBERNETES = "1.36.1"
ETCD = "3.6.8"
KWOK = "0.8.0"

# What installs Helm releases on a rehearsed cluster. The Go module of `helm_source/` has the same
# version; pulumi-kubernetes has Helm 3 too.
HELM = "3.22.0"

# The oldest Go that builds all of them: the highest `go` of the modules here.
GO = "1.26"

# What signs a job in to clusters with Entra.
KUBELOGIN = "0.2.20"

# The plug-ins with the credentials of a deployment. pyproject.toml has their versions.
PROVIDERS = {
    name: importlib.metadata.version(name) for name in ("pulumi-azure-native", "pulumi-kubernetes")
}

# The checker of workflows. The Go module of `actionlint_source/` has the same version.
ACTIONLINT = "1.7.12"
