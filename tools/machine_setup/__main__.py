"""Prints the folder of this machine's `pulumi`, for PATH; downloads or builds it if needed.

`python -m machine_setup kubernetes` does the same for the Kubernetes binaries, and `helm` for Helm.
`python -m machine_setup deploying` installs what jobs with credentials run, and prints its folders.
"""

import sys

from machine_setup import EngineUnavailableError, ensure_engine, ensure_helm, ensure_kubernetes
from machine_setup.deploying import deployment_tools
from machine_setup.progress import to_stderr

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
            sys.exit("usage: python -m machine_setup [kubernetes | helm | deploying]")
except EngineUnavailableError as error:
    sys.exit(str(error))
sys.stdout.write("".join(f"{folder}\n" for folder in folders))
