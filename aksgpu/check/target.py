"""What is checked: a cluster's kubeconfig and what its stack says, or a kubeconfig alone."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aksgpu.check.api import kubeconfig_required
from aksgpu.check.expected import Expected, expected, in_clear
from aksgpu.outcome import Cause, stopped
from aksgpu.project import Project
from aksgpu.rehearsal_stage import ERAS, PROGRAM, rehearsal_home
from aksgpu.running import READ_SECONDS, Program, ProgramError
from catalogue.shapes import at, mapping, mappings, sequence
from kube.kubeconfig import Kubeconfig, parse, read

_BACKEND = "PULUMI_BACKEND_URL"


@dataclass(frozen=True, kw_only=True)
class Target:
    # How it is called in what the check prints.
    title: str
    kubeconfig: Kubeconfig = field(repr=False)
    expected: Expected = field(default_factory=Expected)
    # What the program gets that signs in to the cluster, on top of this process's own.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def of_file(file: Path) -> Target:
    """Whatever a file leads to; of the pools no more is known than their nodes tell."""
    if not file.is_file():
        raise stopped(
            Cause.STACK_UNREADABLE,
            f"the file {file} does not exist",
            "name a kubeconfig: `az aks get-credentials --file FILE` writes one",
        )
    with kubeconfig_required():
        return Target(title=f"The cluster of {file}", kubeconfig=read(file))


def of_stack(pulumi: Program, stack: str) -> Target:
    return of_resources(_resources(pulumi, stack), pulumi, stack)


def of_resources(resources: Sequence[Any], pulumi: Program, stack: str) -> Target:
    """The cluster of a stack by the resources of its state, with their secrets."""
    outputs = next(_outputs(resources), {})
    text = outputs.get("kubeconfig")
    if not isinstance(text, str) or not text:
        raise stopped(
            Cause.STACK_UNREADABLE,
            f"the stack {stack} has no output kubeconfig",
            "one without device plugin and sample job has none: aksgpu check --kubeconfig FILE "
            "takes what az aks get-credentials writes",
        )
    is_rehearsed = _is_rehearsed(pulumi)
    title = f"The {'rehearsed ' * is_rehearsed}stack {stack}"
    if name := outputs.get("clusterName"):
        title += f", cluster {name}"
    put_back = f"make rehearse STACK={stack}" if is_rehearsed else "pulumi up --refresh"
    with kubeconfig_required():
        config = parse(text)
    return Target(
        title=title,
        kubeconfig=config,
        expected=expected(resources, outputs, put_back),
        environment=pulumi.environment,
    )


def _is_rehearsed(pulumi: Program) -> bool:
    """Whether the state is a rehearsal's, also in a shell that `aksgpu env` has set."""
    backend = {**os.environ, **pulumi.environment}.get(_BACKEND)
    homes = map(rehearsal_home, ERAS)
    return any(Project(PROGRAM, home).environment()[_BACKEND] == backend for home in homes)


def _outputs(resources: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The outputs of the stack, the secret ones in clear: they are never repeated."""
    for found in mappings(resources):
        if found.get("type") == "pulumi:pulumi:Stack":
            yield mapping(in_clear(found.get("outputs")))


def _resources(pulumi: Program, stack: str) -> list[Any]:
    """All resources of the state, with their secrets."""
    command = ("stack", "export", "--stack", stack, "--show-secrets", "--non-interactive")
    try:
        ended = pulumi.attempt(*command, seconds=READ_SECONDS)
        if ended.code == 0:
            return [*sequence(at(json.loads(ended.out), "deployment.resources"))]
        reason = ended.err.strip().removeprefix("error: ") or f"exit code {ended.code}"
    except ProgramError as error:
        reason = str(error)
    except ValueError:
        reason = "it did not print JSON"
    raise stopped(
        Cause.STACK_UNREADABLE,
        f"`pulumi stack export` cannot read the stack {stack}: {reason}",
        "is this the stack's project, are you signed in to its backend (pulumi login), and is its "
        "passphrase set?",
    )
