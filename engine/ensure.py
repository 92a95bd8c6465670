"""Giving a machine an engine."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.cache import Say, engine_cache
from engine.errors import EngineUnavailableError, WayClosedError
from engine.on_path import find_on_path
from engine.pins import SITES
from engine.progress import to_stderr
from engine.release import fetch_release, released_engine
from engine.source_build import build_engine, built_engine
from engine.versions import LOWEST_PULUMI, PULUMI


@dataclass(frozen=True)
class Engine:
    """A Pulumi engine that can run Python programs."""

    pulumi: Path
    version: str
    origin: Literal["path", "release", "build"]

    def on_path(self, path: str) -> str:
        """A PATH made from `path` on which this `pulumi`, with its language host, comes first."""
        # The user's own pulumi mostly lies in a folder full of other things, such as a Python.
        # That folder is not moved to the front where there is no need to.
        if shutil.which("pulumi", path=path) == str(self.pulumi):
            return path
        return os.pathsep.join([str(self.pulumi.parent), path])


def ensure_engine(say: Say = to_stderr) -> Engine:
    """The engine of this machine: the user's, a release, or one built here, in this order.

    What is fetched or built is kept for the user. `say` gets a line for each thing worth knowing.
    Raises EngineUnavailableError where none of the three ways leads to an engine.
    """
    closed: list[WayClosedError] = []
    try:
        pulumi, version = find_on_path()
        return Engine(pulumi, version, "path")
    except WayClosedError as reason:
        closed.append(reason)
        if shutil.which("pulumi"):
            say(f"The pulumi on PATH is passed over: {reason}.")
    try:
        cache = engine_cache()
    except WayClosedError as reason:
        # There is no cache for this kind of machine, nor anything to put into it.
        raise _unavailable(*closed, reason, reason) from reason
    if kept := released_engine(cache):
        return Engine(kept, PULUMI, "release")
    if kept := built_engine(cache):
        return Engine(kept, PULUMI, "build")
    try:
        return Engine(fetch_release(cache, say), PULUMI, "release")
    except WayClosedError as reason:
        closed.append(reason)
        say(f"No release of Pulumi could be fetched: {reason}.")
    try:
        return Engine(build_engine(cache, say), PULUMI, "build")
    except WayClosedError as reason:
        raise _unavailable(*closed, reason) from reason


def _unavailable(*closed: WayClosedError) -> EngineUnavailableError:
    on_path, release, build = closed
    return EngineUnavailableError(
        "No Pulumi engine could be had in any of the three ways.\n"
        f"1. pulumi on PATH: {on_path}\n"
        f"2. the official release: {release}\n"
        f"3. a build from Go modules: {build}\n"
        "Do one of these and try again:\n"
        f"- install Pulumi {LOWEST_PULUMI} or newer (https://www.pulumi.com/docs/iac/download-install/)\n"
        f"- make the releases reachable, or name a mirror of them in {SITES['pulumi'][1]}\n"
        "- install Go 1.25.11 or newer (https://go.dev/dl/), with a module proxy it can reach"
    )
