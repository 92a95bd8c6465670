"""Prints the folder of this machine's `pulumi`, for PATH; downloads or builds it if needed.

`python -m engine kubernetes` does the same for the Kubernetes binaries, and `helm` for Helm.
"""

import sys

from engine import EngineUnavailableError, ensure_engine, ensure_kubernetes
from engine.helm import ensure_helm

try:
    match sys.argv[1:]:
        case []:
            folder = ensure_engine().pulumi.parent
        case ["kubernetes"]:
            folder = ensure_kubernetes().folder
        case ["helm"]:
            folder = ensure_helm().parent
        case _:
            sys.exit("usage: python -m engine [kubernetes | helm]")
except EngineUnavailableError as error:
    sys.exit(str(error))
sys.stdout.write(f"{folder}\n")
