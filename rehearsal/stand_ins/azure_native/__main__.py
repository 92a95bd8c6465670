"""The plug-in as the engine starts it."""

from importlib.metadata import version

from aks_preview.serving import serve
from rehearsal.azure_native.provider import AzureNative

if __name__ == "__main__":
    serve(AzureNative(), version("pulumi-azure-native"))
