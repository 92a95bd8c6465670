"""The plug-in as the engine starts it from a virtual environment that has aks_preview installed."""

from provider_kit.loading import unsearched

with unsearched():
    from aks_preview.configuration import VERSION
    from aks_preview.provider import AksPreview
    from provider_kit.serving import serve

if __name__ == "__main__":
    serve(AksPreview(), VERSION)
