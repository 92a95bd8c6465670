"""The plug-in as the engine starts it."""

from importlib.metadata import version

from provider_kit.loading import unsearched

with unsearched():
    from provider_kit.serving import serve
    from rehearsal.stand_ins.azure_native.provider import AzureNative

if __name__ == "__main__":
    serve(AzureNative(), version("pulumi-azure-native"))
