"""The plug-in as the engine starts it, with the engine's address as its argument."""

from importlib.metadata import version

from provider_kit.loading import unsearched

with unsearched():
    from provider_kit.engine_log import EngineLog, engine_address
    from provider_kit.serving import serve
    from rehearsal.stand_ins.kubernetes.provider import Kubernetes

if __name__ == "__main__":
    serve(Kubernetes(EngineLog(engine_address())), version("pulumi-kubernetes"))
