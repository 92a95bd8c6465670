"""The plug-in azure-native."""

from importlib.metadata import version

from provider_kit.engine_log import EngineLog, engine_address
from provider_kit.serving import serve
from rehearsal.offline_plug_ins.azure_native.provider import AzureNative


def main() -> None:
    serve(AzureNative(EngineLog(engine_address())), version("pulumi-azure-native"))
