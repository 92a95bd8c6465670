"""The plug-in as the engine starts it, with the engine's address as its argument."""

from importlib.metadata import version

from aks_preview.engine_log import EngineLog, engine_address
from aks_preview.serving import serve
from rehearsal.kubernetes_provider.provider import Kubernetes

if __name__ == "__main__":
    serve(Kubernetes(EngineLog(engine_address())), version("pulumi-kubernetes"))
