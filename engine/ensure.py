"""Finds, downloads or builds a Pulumi engine for this machine."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.cache import Say, engine_cache
from engine.errors import EngineUnavailableError, SourceUnavailableError
from engine.on_path import find_on_path
from engine.pins import SITES
from engine.progress import to_stderr
from engine.release import fetch_release, released_engine
from engine.source_build import build_engine, built_engine
from engine.versions import GO, LOWEST_PULUMI, PULUMI


@dataclass(frozen=True)
class Engine:
    """A Pulumi engine that can run Python programs."""

    pulumi: Path
    version: str
    origin: Literal["path", "release", "build"]

    def on_path(self, path: str) -> str:
        """Returns `path` with this `pulumi` and its language host in front."""
        # The folder of the user's pulumi often has other programs, such as a Python, so it is not
        # moved to the front without need.
        if shutil.which("pulumi", path=path) == str(self.pulumi):
            return path
        return os.pathsep.join([str(self.pulumi.parent), path])


def ensure_engine(say: Say = to_stderr) -> Engine:
    """Returns this machine's engine: the one on PATH, a release, or one built here, in this order.

    Downloads and builds are cached for the user. `say` gets lines for the user. Raises
    EngineUnavailableError if there is no engine from any source.
    """
    reasons: list[SourceUnavailableError] = []
    try:
        pulumi, version = find_on_path()
        return Engine(pulumi, version, "path")
    except SourceUnavailableError as reason:
        reasons.append(reason)
        if shutil.which("pulumi"):
            say(f"Not using the pulumi on PATH: {reason}.")
    try:
        cache = engine_cache()
    except SourceUnavailableError as reason:
        # For this platform there is neither a release nor a build.
        raise _unavailable(*reasons, reason, reason) from reason
    if cached := released_engine(cache):
        return Engine(cached, PULUMI, "release")
    if cached := built_engine(cache):
        return Engine(cached, PULUMI, "build")
    try:
        return Engine(fetch_release(cache, say), PULUMI, "release")
    except SourceUnavailableError as reason:
        reasons.append(reason)
        say(f"Pulumi's release could not be downloaded: {reason}.")
    try:
        return Engine(build_engine(cache, say), PULUMI, "build")
    except SourceUnavailableError as reason:
        raise _unavailable(*reasons, reason) from reason


def _unavailable(*reasons: SourceUnavailableError) -> EngineUnavailableError:
    on_path, release, build = reasons
    return EngineUnavailableError(
        "There is no Pulumi engine for this machine.\n"
        f"1. pulumi on PATH: {on_path}\n"
        f"2. the official release: {release}\n"
        f"3. a build from Go modules: {build}\n"
        "Do one of these and try again:\n"
        f"- install Pulumi {LOWEST_PULUMI} or newer (https://www.pulumi.com/docs/iac/download-install/)\n"
        f"- make the releases reachable, or set {SITES['pulumi'][1]} to a mirror\n"
        f"- install Go {GO} or newer (https://go.dev/dl/), with a module proxy that it can reach"
    )
