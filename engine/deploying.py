"""What a job with credentials runs: Pulumi, kubelogin and the providers, each by its digest.

Whatever the runner has on its PATH is not used.
"""

import platform
import subprocess
import zipfile
from pathlib import Path

from engine.cache import Say, engine_cache, machine, make_whole, sole_use
from engine.errors import EngineUnavailableError, SourceUnavailableError
from engine.pins import Pin, fetch, pin_of
from engine.release import fetch_release, released_engine
from engine.versions import KUBELOGIN, PROVIDERS


def deployment_tools(say: Say) -> list[Path]:
    """Installs the providers; returns the folders of `pulumi` and of `kubelogin`, for PATH."""
    try:
        cache = engine_cache()
        pulumi = released_engine(cache) or fetch_release(cache, say)
        folders = [pulumi.parent, _kubelogin(cache, say)]
        for name in PROVIDERS:
            _install(pulumi, pin_of(name, machine()), cache, say)
    except SourceUnavailableError as reason:
        raise EngineUnavailableError(
            f"A job with credentials runs what engine/pins.csv names, and no other: {reason}. "
            "docs/set-up.md names the variables for a mirror."
        ) from reason
    return folders


def _kubelogin(cache: Path, say: Say) -> Path:
    pin, place = pin_of("kubelogin", machine()), cache / "release" / f"kubelogin-{KUBELOGIN}"

    def unpack(folder: Path) -> Path:
        architecture = pin.file.removesuffix(".zip").rpartition("-")[2]
        inside = f"bin/{platform.system().lower()}_{architecture}/kubelogin"
        try:
            with zipfile.ZipFile(fetch(pin, cache / "release" / "downloads", say)) as archive:
                (folder / "kubelogin").write_bytes(archive.read(inside))
        except (KeyError, zipfile.BadZipFile) as error:
            raise SourceUnavailableError(f"{pin.address} has no {inside}: {error}") from error
        (folder / "kubelogin").chmod(0o755)
        return folder

    return make_whole(place, unpack, say)


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
            f"::warning::engine/pins.csv has no digest for {pin.file}: this job runs it unchecked. "
            "`make pins` fills it in (docs/set-up.md)."
        )
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SourceUnavailableError(f"{pin.file} cannot be installed: {ended.stderr.strip()}")
