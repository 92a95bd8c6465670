"""What a change of the provider's arguments comes to: another cluster makes everything anew."""

from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from provider_kit.values import holds_unknown
from rehearsal.stand_ins.kubernetes.kubeconfig import KubeconfigError, choose, given

# The arguments that choose a cluster.
_CHOOSING = ("kubeconfig", "context", "cluster")
_IDENTIFIER = "clusterIdentifier"


def config_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> DiffResponse:
    changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    if not changed:
        return DiffResponse(changes=False)
    return DiffResponse(
        changes=True,
        replaces=_replacing(old, new, changed),
        diffs=changed,
    )


def _replacing(old: Mapping[str, Any], new: Mapping[str, Any], changed: list[str]) -> list[str]:
    if old.get(_IDENTIFIER) and new.get(_IDENTIFIER):
        return [_IDENTIFIER] if _IDENTIFIER in changed else []
    unknown = [name for name in _CHOOSING if holds_unknown(new.get(name))]
    if unknown:
        return unknown
    before, after = _cluster(old), _cluster(new)
    if before is None or after is None or before == after:
        return []
    return [name for name in _CHOOSING if name in changed]


def _cluster(arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The chosen cluster's entry; None where the arguments alone do not tell it."""
    if not arguments.get("kubeconfig"):
        return None
    try:
        return choose(
            given(arguments["kubeconfig"]),
            context=arguments.get("context") or "",
            cluster=arguments.get("cluster") or "",
        ).cluster
    except KubeconfigError:
        return None
