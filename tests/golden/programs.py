"""The programs of this repository, and what each sends in its life."""

import asyncio
import json
import os
import runpy
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any
from unittest import mock

import pulumi
import yaml
from pulumi.runtime.settings import set_root_resource

import components
from aks_catalogue.today import TODAY_VARIABLE
from rehearsal.control_planes.desired_state import Era
from tests.bench import ROOT, STACKS
from tests.golden.azure import RecordingAzure
from tests.golden.monitor import Monitor

_EXAMPLES = (ROOT / "examples" / "stacks").glob("Pulumi.*.yaml")
_FILES = {name: folder / f"Pulumi.{name}.yaml" for name, folder in STACKS.items()} | {
    file.name.split(".")[1]: file for file in sorted(_EXAMPLES)
}
# The program of a team that has pools of its own on the cluster of others.
_TEAM = "batch-team"
PROGRAMS = (*_FILES, _TEAM)
# Those that are updated, too: each has something that is updated in another way.
_UPDATED = frozenset({"article", "company", "managed", "prod", _TEAM})
_TODAY = {TODAY_VARIABLE: "2026-11-22"}


def life_of(program: str) -> dict[str, list[Any]]:
    """What a program sends when it comes up, when it changes, and when it goes."""
    azure = RecordingAzure(Era.ARTICLE if program == "article" else Era.TODAY)
    monitor, life = Monitor(azure), {}
    with azure.serving(), mock.patch.dict(os.environ, azure.environment | _TODAY, clear=True):
        if program == _TEAM:
            azure.make_cluster("platform", "shared")
        with monitor.run():
            _run(program, monitor, {})
        life["up"] = monitor.to_azure()
        life["up, to the cluster"] = monitor.to_cluster()
        if program in _UPDATED:
            azure.scale_pools()
            with monitor.run():
                _run(program, monitor, {"changed": "yes"})
            life["up with another tag, after the autoscaler"] = monitor.to_azure()
        with monitor.run():
            monitor.destroy()
        life["destroy"] = monitor.to_azure()
    return life


class _Components(ModuleType):
    """The components as in the package that `pulumi install` makes, as far as examples use it."""

    def __getattr__(self, name: str) -> Any:
        def make(resource: str, opts: pulumi.ResourceOptions | None = None, **values: Any) -> Any:
            arguments = getattr(components, f"{name}Args")(**values)
            return getattr(components, name)(resource, arguments, opts)

        return make


_PACKAGE = ModuleType("aks_gpu_aks_gpu")
_PACKAGE.__dict__["components"] = _Components("components")


def _run(program: str, monitor: Monitor, tags: Mapping[str, str]) -> None:
    """Runs a program to its end, as its stack file has it, with more tags."""
    if program == _TEAM:
        project, folder = program, ROOT / "examples" / program
        config = {f"{project}:platformGroup": "platform", f"{project}:platformCluster": "shared"}
    else:
        project, folder = "aks-gpu", ROOT
        config = yaml.safe_load(_FILES[program].read_text())["config"]
        config["aks-gpu:tags"] = config.get("aks-gpu:tags", {}) | tags
    texts = {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()
    }

    def main() -> None:
        runpy.run_path(str(folder), run_name="__main__")

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # The root of an earlier program would keep what that exported.
    set_root_resource(None)  # type: ignore[arg-type]
    pulumi.runtime.set_mocks(monitor.mocks, project, program, preview=False, monitor=monitor)
    sys.modules[_PACKAGE.__name__] = _PACKAGE
    try:
        with mock.patch.dict(os.environ, {"PULUMI_CONFIG": json.dumps(texts)}):
            pulumi.runtime.test(main)()
    finally:
        del sys.modules[_PACKAGE.__name__]
        loop.close()
        asyncio.set_event_loop(None)
