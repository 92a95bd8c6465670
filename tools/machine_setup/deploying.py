"""What a job with credentials runs: Pulumi, kubelogin and the providers, each by its digest.

Whatever the runner has on its PATH is not used.
"""

import subprocess
from pathlib import Path

from machine_setup.cache import Say, engine_cache, machine, sole_use
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.pins import Pin, fetch, pin_of
from machine_setup.releases import fetch_released, released
from machine_setup.versions import PROVIDERS


def deployment_tools(say: Say) -> list[Path]:
    """Installs the providers; returns the folders of `pulumi` and of `kubelogin`, for PATH."""
    try:
        cache = engine_cache()
        folders = [
            released(cache, name) or fetch_released(cache, say, name)
            for name in ("pulumi", "kubelogin")
        ]
        for name in PROVIDERS:
            _install(folders[0] / "pulumi", pin_of(name, machine()), cache, say)
    except SourceUnavailableError as reason:
        raise EngineUnavailableError(
            "A job with credentials runs what tools/machine_setup/pins.csv names, and no other: "
            f"{reason}. docs/set-up.md names the variables for a mirror."
        ) from reason
    return folders


def _install(pulumi: Path, pin: Pin, cache: Path, say: Say) -> None:
    """Installs a provider anew: one that is there already has not been checked."""
    name = pin.name.removeprefix("pulumi-")
    command = [str(pulumi), "plugin", "install", "resource", name, pin.version, "--reinstall"]
    if pin.digest:
        with sole_use(cache / "release", say):
            archive = fetch(pin, cache / "release" / "downloads", say)
        command += ["--file", str(archive)]
    else:
        say(
            f"::warning::tools/machine_setup/pins.csv has no digest for {pin.file}: this job runs "
            "it unchecked. `make pins` fills it in (docs/set-up.md)."
        )
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SourceUnavailableError(f"{pin.file} cannot be installed: {ended.stderr.strip()}")
