"""Prints the folder of this machine's `pulumi`, made ready if need be: for PATH."""

import sys

from engine import EngineUnavailableError, ensure_engine

try:
    sys.stdout.write(f"{ensure_engine().pulumi.parent}\n")
except EngineUnavailableError as error:
    sys.exit(str(error))
