"""Prints the folder of this machine's `pulumi`, for PATH; downloads or builds it if needed.

`python -m engine kubernetes` does the same for the Kubernetes binaries, and `helm` for Helm.
`python -m engine deploying` prints the folders of what jobs with credentials run, and installs it.
"""

import sys

from engine import EngineUnavailableError, ensure_engine, ensure_helm, ensure_kubernetes
from engine.deploying import deployment_tools
from engine.progress import to_stderr

try:
    match sys.argv[1:]:
        case []:
            folders = [ensure_engine().pulumi.parent]
        case ["kubernetes"]:
            folders = [ensure_kubernetes().folder]
        case ["helm"]:
            folders = [ensure_helm().parent]
        case ["deploying"]:
            folders = deployment_tools(to_stderr)
        case _:
            sys.exit("usage: python -m engine [kubernetes | helm | deploying]")
except EngineUnavailableError as error:
    sys.exit(str(error))
sys.stdout.write("".join(f"{folder}\n" for folder in folders))
