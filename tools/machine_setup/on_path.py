"""Programs on PATH; Pulumi engine, first source: a `pulumi` there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from packaging.version import Version

from machine_setup.errors import SourceUnavailableError
from machine_setup.versions import LOWEST_PULUMI


def find_on_path() -> tuple[Path, str]:
    """Returns the `pulumi` on PATH and its version; raises SourceUnavailableError otherwise."""
    executable = shutil.which("pulumi")
    if executable is None:
        raise SourceUnavailableError("there is no `pulumi` on PATH")
    pulumi = Path(executable).absolute()
    version = version_of(pulumi)
    if Version(version) < Version(LOWEST_PULUMI):
        raise SourceUnavailableError(
            f"{pulumi} is version {version}, and {LOWEST_PULUMI} or newer is required"
        )
    if not _has_language_host(pulumi):
        raise SourceUnavailableError(
            f"there is no pulumi-language-python beside {pulumi} or on PATH"
        )
    return pulumi, version


def version_of(program: Path, *options: str) -> str:
    """Returns what `PROGRAM version` prints; raises SourceUnavailableError if it prints none."""
    # Pulumi's update check is useless here, and takes seconds without a network.
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(
            [program, "version", *options],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SourceUnavailableError(f"`{program} version` failed: {error}") from error
    # Development versions have a suffix, as in v3.260.0-dev.0.
    version = re.match(r"v?(\d+\.\d+\.\d+)", answer.stdout.strip())
    if version is None:
        raise SourceUnavailableError(f"`{program} version` printed {answer.stdout.strip()!r}")
    return version.group(1)


def _has_language_host(pulumi: Path) -> bool:
    # Pulumi looks on PATH, and beside its own file after links are resolved.
    path = os.pathsep.join([os.environ.get("PATH", ""), str(pulumi.resolve().parent)])
    return shutil.which("pulumi-language-python", path=path) is not None
