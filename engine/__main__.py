"""Prints the folder of this machine's `pulumi`, for PATH; downloads or builds it if needed.

`python -m engine kubernetes` does the same for the Kubernetes binaries, and `helm` for Helm.
"""

import sys

from engine import EngineUnavailableError, ensure_engine, ensure_kubernetes
from engine.helm import ensure_helm

try:
    if sys.argv[1:] == ["kubernetes"]:
        folder = ensure_kubernetes().folder
    elif sys.argv[1:] == ["helm"]:
        folder = ensure_helm().parent
    else:
        folder = ensure_engine().pulumi.parent
except EngineUnavailableError as error:
    sys.exit(str(error))
sys.stdout.write(f"{folder}\n")
