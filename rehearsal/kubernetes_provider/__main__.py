"""The plug-in as the engine starts it, with the engine's address as its argument."""

import sys
from importlib.metadata import version

from aks_preview.serving import serve
from rehearsal.kubernetes_provider.engine_log import EngineLog
from rehearsal.kubernetes_provider.provider import Kubernetes

if __name__ == "__main__":
    serve(Kubernetes(EngineLog(sys.argv[1])), version("pulumi-kubernetes"))
