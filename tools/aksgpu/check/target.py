"""What is checked: the cluster of a stack, or of a kubeconfig file without a stack."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_catalogue.shapes import at, mapping, mappings, sequence
from aksgpu.check.api import kubeconfig_required
from aksgpu.check.expected import Expected, expected, in_clear
from aksgpu.outcome import Cause, stopped
from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, rehearsal_home, rehearse_line
from aksgpu.running import READ_SECONDS, Program, ProgramError
from kube_client.kubeconfig import Kubeconfig, parse, read


@dataclass(frozen=True, kw_only=True)
class Target:
    # Its name in reports.
    title: str
    kubeconfig: Kubeconfig = field(repr=False)
    expected: Expected = field(default_factory=Expected)
    # Added to the environment of the program that signs in to the cluster (kubelogin).
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def of_file(file: Path) -> Target:
    """The cluster of a kubeconfig file; nothing is known about its pools but their nodes."""
    if not file.is_file():
        raise stopped(
            Cause.CLUSTER_UNREACHABLE,
            f"the file {file} does not exist",
            "name a kubeconfig: `az aks get-credentials --file FILE` writes one",
        )
    with kubeconfig_required():
        return Target(title=f"The cluster of {file}", kubeconfig=read(file))


def of_stack(pulumi: Program, stack: str) -> Target:
    return of_resources(_resources(pulumi, stack), pulumi, stack)


def of_resources(resources: Sequence[Any], pulumi: Program, stack: str) -> Target:
    """The cluster of a stack, from the resources of its state with decrypted secrets."""
    outputs = next(_outputs(resources), {})
    text = outputs.get("kubeconfig")
    if not isinstance(text, str) or not text:
        raise stopped(
            Cause.CLUSTER_UNREACHABLE,
            f"the stack {stack} has no output kubeconfig",
            "a stack without device plugin and sample job has none: write a kubeconfig with "
            "`az aks get-credentials --file FILE`, and use `aksgpu check --kubeconfig FILE`",
        )
    is_rehearsed = _is_rehearsed(pulumi)
    title = f"The {'rehearsed ' * is_rehearsed}stack {stack}"
    if name := outputs.get("clusterName"):
        title += f", cluster {name}"
    restoring_command = rehearse_line(stack) if is_rehearsed else "pulumi up --refresh"
    with kubeconfig_required():
        config = parse(text)
    return Target(
        title=title,
        kubeconfig=config,
        expected=expected(resources, outputs, restoring_command),
        environment=pulumi.environment,
    )


def _is_rehearsed(pulumi: Program) -> bool:
    """Whether the state is a rehearsal's, also in a shell of `aksgpu env`."""
    backend = {**os.environ, **pulumi.environment}.get("PULUMI_BACKEND_URL")
    return Project(PROGRAM, rehearsal_home()).backend == backend


def _outputs(resources: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The outputs of the stack, secrets decrypted: never print them."""
    for resource in mappings(resources):
        if resource.get("type") == "pulumi:pulumi:Stack":
            yield mapping(in_clear(resource.get("outputs")))


def _resources(pulumi: Program, stack: str) -> list[Any]:
    """All resources of the state, with decrypted secrets."""
    command = ("stack", "export", "--stack", stack, "--show-secrets", "--non-interactive")
    try:
        process = pulumi.attempt(*command, seconds=READ_SECONDS)
        if process.code == 0:
            return [*sequence(at(json.loads(process.out), "deployment.resources"))]
        reason = process.err.strip().removeprefix("error: ") or f"exit code {process.code}"
    except ProgramError as error:
        reason = str(error)
    except ValueError:
        reason = "it did not print JSON"
    raise stopped(
        Cause.CLUSTER_UNREACHABLE,
        f"`pulumi stack export` cannot read the stack {stack}: {reason}",
        "run it in the stack's project folder, sign in to its backend (`pulumi login`), and set "
        "its passphrase",
    )
