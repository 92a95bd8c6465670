"""Prints the folder of this machine's `pulumi`, made ready if need be: for PATH.

`python -m engine kubernetes` does so with the binaries of Kubernetes.
"""

import sys

from engine import EngineUnavailableError, ensure_engine, ensure_kubernetes

try:
    if sys.argv[1:] == ["kubernetes"]:
        folder = ensure_kubernetes().folder
    else:
        folder = ensure_engine().pulumi.parent
except EngineUnavailableError as error:
    sys.exit(str(error))
sys.stdout.write(f"{folder}\n")
