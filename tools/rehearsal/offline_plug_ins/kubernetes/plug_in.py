"""The plug-in kubernetes."""

from importlib.metadata import version

from provider_kit.engine_log import EngineLog, engine_address
from provider_kit.serving import serve
from rehearsal.offline_plug_ins.kubernetes.provider import Kubernetes


def main() -> None:
    serve(Kubernetes(EngineLog(engine_address())), version("pulumi-kubernetes"))
