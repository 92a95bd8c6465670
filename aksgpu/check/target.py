"""What is checked: a cluster's kubeconfig and its GPU pools, out of a stack's outputs or a file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aksgpu.check.api import kubeconfig_required
from aksgpu.outcome import Cause, stopped
from aksgpu.running import READ_SECONDS, Program, ProgramError
from kube.kubeconfig import Kubeconfig, parse, read


@dataclass(frozen=True, kw_only=True)
class Target:
    # How it is called in what the check prints.
    title: str
    kubeconfig: Kubeconfig = field(repr=False)
    # What pods have to tolerate on the nodes of each pool.
    pools: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    # What the program gets that signs in to the cluster, on top of this process's own.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def of_file(file: Path) -> Target:
    """Whatever a file leads to; of the pools no more is known than their nodes tell."""
    with kubeconfig_required():
        return Target(title=f"The cluster of {file}", kubeconfig=read(file))


def of_stack(pulumi: Program, stack: str) -> Target:
    outputs = _outputs(pulumi, stack)
    text = outputs.get("kubeconfig")
    if not isinstance(text, str) or not text:
        raise stopped(
            Cause.STACK_UNREADABLE,
            f"the stack {stack} has no output kubeconfig",
            "one without device plugin and sample job has none: aksgpu check --kubeconfig FILE "
            "takes what az aks get-credentials writes",
        )
    title = f"The stack {stack}"
    if name := outputs.get("clusterName"):
        title += f", cluster {name}"
    pools = outputs.get("gpuPools") or {}
    with kubeconfig_required():
        config = parse(text)
    return Target(
        title=title,
        kubeconfig=config,
        pools={name: pool.get("tolerations") or () for name, pool in pools.items()},
        environment=pulumi.environment,
    )


def _outputs(pulumi: Program, stack: str) -> dict[str, Any]:
    """All outputs, the secret ones in clear: what is printed here is never repeated."""
    command = ("stack", "output", "--stack", stack, "--json", "--show-secrets", "--non-interactive")
    try:
        ended = pulumi.attempt(*command, seconds=READ_SECONDS)
        if ended.code == 0:
            found: dict[str, Any] = json.loads(ended.out)
            return found
        reason = ended.err.strip().removeprefix("error: ") or f"exit code {ended.code}"
    except ProgramError as error:
        reason = str(error)
    except ValueError:
        reason = "it printed no JSON"
    raise stopped(
        Cause.STACK_UNREADABLE,
        f"`pulumi stack output` cannot read the stack {stack}: {reason}",
        "is this the stack's project, are you signed in to its backend (pulumi login), and is its "
        "passphrase set?",
    )
