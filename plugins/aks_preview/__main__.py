"""The main program of the plug-in. The engine runs this folder, which needs no installation."""

import sys
from pathlib import Path

# Python adds this folder to sys.path. Its modules must not be imported as top-level ones.
_PLUGINS = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(_PLUGINS), str(_PLUGINS.parent)]

from provider_kit.loading import unsearched  # noqa: E402

with unsearched():
    from aks_preview.configuration import VERSION
    from aks_preview.provider import AksPreview
    from provider_kit.serving import serve

if __name__ == "__main__":
    serve(AksPreview(), VERSION)
