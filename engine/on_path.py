"""The first way to an engine: a `pulumi` that the user has."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from packaging.version import Version

from engine.errors import WayClosedError
from engine.versions import LOWEST_PULUMI


def find_on_path() -> tuple[Path, str]:
    """The `pulumi` on PATH and its version, if it will do."""
    found = shutil.which("pulumi")
    if found is None:
        raise WayClosedError("there is no `pulumi` on PATH")
    pulumi = Path(found).absolute()
    version = _version_of(pulumi)
    if Version(version) < Version(LOWEST_PULUMI):
        raise WayClosedError(
            f"{pulumi} is version {version}, and {LOWEST_PULUMI} is the lowest that will do"
        )
    if not _has_language_host(pulumi):
        raise WayClosedError(
            f"{pulumi} has no pulumi-language-python, neither beside it nor on PATH"
        )
    return pulumi, version


def _version_of(pulumi: Path) -> str:
    # Looking for a newer release is of no use here, and takes seconds where there is no network.
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(
            [pulumi, "version"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise WayClosedError(f"`{pulumi} version` failed: {error}") from error
    # Development versions have a tail, as in v3.260.0-dev.0.
    version = re.match(r"v?(\d+\.\d+\.\d+)", answer.stdout.strip())
    if version is None:
        raise WayClosedError(f"`{pulumi} version` answers {answer.stdout.strip()!r}")
    return version.group(1)


def _has_language_host(pulumi: Path) -> bool:
    # Pulumi looks on PATH, and beside the file that it really is.
    path = os.pathsep.join([os.environ.get("PATH", ""), str(pulumi.resolve().parent)])
    return shutil.which("pulumi-language-python", path=path) is not None
