"""The real Azure CLI, from PyPI, in a virtual environment of its own in the user's cache."""

import shutil
import sys
from functools import partial
from pathlib import Path

from aksgpu.running import ProgramError
from machine_setup.cache import Say, sole_use, user_cache
from machine_setup.progress import to_stderr
from tests.article.commands import Runner

LOCK = Path(__file__).with_name("azure-cli.txt")
VERSION = "2.91.0"

# Scripts that pip installs contain the path of the interpreter, and this virtual environment moves
# once it is complete.
_LAUNCHER = """#!/bin/sh
AZ_INSTALLER=PIP exec "$(dirname "$0")/python" -m azure.cli "$@"
"""


class AzureCliUnavailableError(ProgramError):
    """The Azure CLI could not be installed."""


def ensure_azure_cli(say: Say) -> Path:
    """The folder of `az`. The first call installs it: 1 minute, 730 MB."""
    final = user_cache() / f"azure-cli-{VERSION}"
    if not final.exists():
        with sole_use(final.with_name(f"{final.name}.making"), say):
            if not final.exists():
                _install(final, say)
    return final / "bin"


def _install(final: Path, say: Say) -> None:
    draft = final.with_name(f"{final.name}.making") / "venv"
    # Remove what a killed installation left.
    shutil.rmtree(draft, ignore_errors=True)
    run = partial(Runner(draft.parent, {}, say).run, title=f"Installing the Azure CLI {VERSION}")
    pip = (str(draft / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check")
    try:
        run(sys.executable, "-m", "venv", str(draft))
        run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(LOCK))
    except (ProgramError, OSError) as error:
        raise AzureCliUnavailableError(
            f"The Azure CLI {VERSION} could not be installed from PyPI.\n{error}"
        ) from error
    launcher = draft / "bin" / "az"
    launcher.write_text(_LAUNCHER, encoding="utf-8")
    launcher.chmod(0o755)
    draft.replace(final)


if __name__ == "__main__":
    sys.stdout.write(f"{ensure_azure_cli(to_stderr)}\n")
