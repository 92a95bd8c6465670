"""The article by this program: `pulumi up` of the article's stack, and of variants of it."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from aksgpu.rehearsal_stage import PROGRAM, Stage
from aksgpu.running import ProgramError
from aksgpu.stack_names import policies_file, stack_file
from machine_setup.cache import Say
from stack_settings import PROJECT
from tests.article import names
from tests.article.arm_view import Azure
from tests.article.by_hand import run_without_driver
from tests.article.commands import Runner
from tests.article.kubectl import Kubectl
from tests.article.steps import Step, Way

_FOLDER = Path(__file__).resolve().parent
STACK = "article"
NEW_STACK = "article-new-cluster"
REFUSED_STACK = "article-refused"

_NO_DRIVER = {
    "name": names.NO_DRIVER_POOL,
    "vmSize": names.SIZE,
    "gpuStack": "none",
    "tainted": False,
}
_FIRST_POOL = {"name": names.FIRST_POOL, "vmSize": names.SIZE, "count": 1}

# How the variants differ from the article's stack file.
NEW_CLUSTER: Mapping[str, Any] = {
    "resourceGroup": {"name": names.NEW_GROUP},
    "systemPool": {**_FIRST_POOL, "image": "specialized"},
    "gpuPools": [_NO_DRIVER],
}
NEW_CLUSTER_POLICIES: Mapping[str, Any] = {
    "one-gpu-stack-owner": {
        "enforcementLevel": "advisory",
        "reason": "The article's note on drivers is shown on a node without one.",
    }
}
REFUSED: Mapping[str, Any] = {
    "resourceGroup": {"name": names.REFUSED_GROUP},
    "cluster": {"name": names.CLUSTER, "kubernetesVersion": names.OLD_KUBERNETES},
    "gpuPools": [{"name": names.WINDOWS_POOL, "vmSize": names.SIZE, "osType": "Windows"}],
}
WITHOUT_JOB: Mapping[str, Any] = {"sampleJob": {"enabled": False}}


def set_up(stage: Stage, kubernetes: Path, say: Say) -> Way:
    """Copies the article's stack file and its policy configuration into the rehearsal's project."""
    stage.project.write_stack(STACK, stack_file(_FOLDER, STACK).read_text(encoding="utf-8"))
    shutil.copy(policies_file(_FOLDER, STACK), stage.project.folder)
    path = os.pathsep.join([str(kubernetes), stage.exports()["PATH"]])
    environment = {**stage.exports(), "PATH": path}
    return Way(Azure(stage.cloud), Runner(stage.project.folder, environment, say))


def _refused(way: Way) -> None:
    _write_variant(way, REFUSED_STACK, REFUSED)
    way.runner.read("pulumi", "stack", "select", "--create", REFUSED_STACK)
    process = way.runner.attempt(*_up(way, REFUSED_STACK))
    if process.code == 0:
        raise ProgramError("`pulumi up` accepted a stack that the article rules out.")
    way.outputs["refused"] = process.out


def _article(way: Way) -> None:
    _bring_up(way, STACK, names.GROUP)


def _new_cluster(way: Way) -> None:
    _write_variant(way, NEW_STACK, NEW_CLUSTER, NEW_CLUSTER_POLICIES)
    _bring_up(way, NEW_STACK, names.NEW_GROUP)


def _without_job(way: Way) -> None:
    _write_variant(way, STACK, WITHOUT_JOB)
    way.runner.run(*_up(way, STACK))


STEPS = (
    Step(_refused, (1,)),
    Step(_article, (3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 18)),
    Step(_new_cluster, (2, 10, 19)),
    Step(run_without_driver, (17,)),
    Step(_without_job, (20,)),
)


def _bring_up(way: Way, stack: str, group: str) -> None:
    way.runner.read("pulumi", "stack", "select", "--create", stack)
    way.runner.run(*_up(way, stack))
    kubeconfig_output = ("output", "kubeconfig", "--show-secrets", "--stack", stack)
    kubeconfig = way.azure.cloud.home / f"kubeconfig-{group}"
    kubeconfig.touch(0o600)
    kubeconfig.write_text(way.runner.read("pulumi", "stack", *kubeconfig_output), encoding="utf-8")
    way.clusters[group] = Kubectl(way.runner, kubeconfig)


def _up(way: Way, stack: str) -> tuple[str, ...]:
    # Without a preview, which would show the same changes.
    options = ("--yes", "--skip-preview", "--policy-pack", str(PROGRAM / "policies"))
    configured = ("--policy-pack-config", str(policies_file(way.runner.folder, stack)))
    return ("pulumi", "up", "--stack", stack, *options, *configured)


def _write_variant(
    way: Way, stack: str, settings: Mapping[str, Any], policies: Mapping[str, Any] | None = None
) -> None:
    """Writes a variant of the article's stack file and of its policy configuration."""
    folder = way.runner.folder
    original = yaml.safe_load(stack_file(folder, STACK).read_text(encoding="utf-8"))
    changes = {f"{PROJECT}:{key}": value for key, value in settings.items()}
    # Each stack has its encryption key; a variant under the same name keeps it.
    kept = original if stack == STACK else {}
    content = {**kept, "config": {**original["config"], **changes}}
    file = stack_file(folder, stack)
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    guards = json.loads(policies_file(folder, STACK).read_text(encoding="utf-8"))
    policies_file(folder, stack).write_text(
        json.dumps({**guards, **(policies or {})}), encoding="utf-8"
    )
