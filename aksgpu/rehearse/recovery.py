"""Makes a stack usable again after an update was killed."""

import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aks_preview.aks_types import AKS_TYPES
from aksgpu.rehearse.leftovers import BROKEN, id_of, in_progress, is_in, lost
from aksgpu.rehearse.locks import lift_locks
from aksgpu.running import Program
from engine.cache import Say
from provider_kit.arm_types import ArmType
from rehearsal.cloud import Cloud
from rehearsal.stand_ins.azure_native.native_types import TYPES

Resource = dict[str, Any]

_TYPES: Mapping[str, ArmType] = {**TYPES, **AKS_TYPES}
# The properties of a preview's resource that its state has too.
_STATE_PROPERTIES = ("aliases", "custom", "dependencies", "inputs", "parent",
                     "propertyDependencies", "protect", "provider", "type", "urn")  # fmt: skip
# What the engine prints instead of a secret.
_MASK = '"[secret]"'
# Makes the next update write the resource again.
_UNFINISHED = {"initErrors": ["The update that started it was killed."]}


def recover(pulumi: Program, stack: str, state: Path, cloud: Cloud, say: Say) -> None:
    """Removes the lock of a killed update, and records what it started.

    Can be repeated if it is killed too. Raises ProgramError if another update of the stack may be
    running.
    """
    lift_locks(stack, state, say)
    exported = pulumi.read_json("stack", "export", "--stack", stack)
    pending = exported["deployment"].get("pending_operations") or []
    started = list(_started(pending, cloud.subscription))
    if pending:
        say(
            f"An earlier update left {len(pending)} operations unfinished; asking Azure about them."
        )
    unknown = lost(state, cloud.request_log) - {id_of(each) for each in started}
    if unknown and (unrecorded := list(_planned(pulumi, stack, cloud.subscription, unknown))):
        say(
            f"An earlier update created {len(unrecorded)} resources without recording them; "
            "asking Azure about them."
        )
        started += unrecorded
    if started or pending:
        exported["deployment"]["resources"] = _with(_resources(exported), started)
        _write(pulumi, stack, state, exported)
    urns = {each["urn"] for each in started} | {each["resource"]["urn"] for each in pending}
    settled = _settled(pulumi, stack, exported, urns, say)
    broken = [each for each in _resources(settled) if each["urn"] in urns and is_in(each, BROKEN)]
    for each in broken:
        each.update(_UNFINISHED)
    if broken:
        _write(pulumi, stack, state, settled)


def _settled(
    pulumi: Program, stack: str, exported: dict[str, Any], urns: Collection[str], say: Say
) -> dict[str, Any]:
    """Refreshes until Azure has finished; the state, without resources that do not exist."""
    reported = ""
    while True:
        waiting = in_progress(_resources(exported))
        targets = waiting.union(urns) & {each["urn"] for each in _resources(exported)}
        if not targets:
            return exported
        names = ", ".join(sorted(urn.rpartition("::")[2] for urn in waiting))
        if names not in {"", reported}:
            say(f"Waiting for Azure to finish {names}.")
            reported = names
        options = [f"--target={urn}" for urn in sorted(targets)]
        pulumi.read("refresh", "--yes", "--skip-preview", "--stack", stack, *options)
        exported, urns = pulumi.read_json("stack", "export", "--stack", stack), ()


def _resources(exported: Mapping[str, Any]) -> list[Resource]:
    return exported["deployment"].get("resources") or []


def _write(pulumi: Program, stack: str, state: Path, exported: Mapping[str, Any]) -> None:
    with tempfile.TemporaryDirectory(dir=state) as folder:
        file = Path(folder) / "deployment.json"
        file.write_text(json.dumps(exported), encoding="utf-8")
        # An import drops pending operations.
        pulumi.read("stack", "import", "--stack", stack, "--file", str(file))


def _with(resources: Iterable[Resource], started: Iterable[Resource]) -> list[Resource]:
    """The resources of a state with the started ones, in the places of those they replace."""
    new = {each["urn"]: each | _UNFINISHED for each in started}
    replaced = []
    current = []
    for each in resources:
        if each.get("delete") or each["urn"] not in new:
            current.append(each)
        else:
            current.append(replacement := new.pop(each["urn"]))
            is_another = each.get("id", "").lower() != replacement["id"].lower()
            if is_another and not each.get("pendingReplacement"):
                replaced.append(each | {"delete": True})
    # The engine keeps resources that are to be deleted at the end.
    return [*current, *new.values(), *replaced]


def _started(pending: Iterable[Mapping[str, Any]], subscription: str) -> Iterator[Resource]:
    """The resources whose creation was started, with their ids."""
    for operation in pending:
        resource = operation["resource"]
        if operation["type"] == "creating" and (identity := _id(resource, subscription)):
            yield resource | {"id": identity}


def _planned(
    pulumi: Program, stack: str, subscription: str, ids: Collection[str]
) -> Iterator[Resource]:
    """The resources that the program would create and whose ids are among these."""
    process = pulumi.attempt("preview", "--json", "--stack", stack)
    with suppress(ValueError):
        # If the program fails here, the update fails too, and reports why.
        for step in json.loads(process.out).get("steps") or ():
            new = step.get("newState") or {}
            if step["op"] not in {"create", "replace"} or new.get("type") not in _TYPES:
                continue
            resource = {name: new[name] for name in _STATE_PROPERTIES if name in new}
            identity = _id(new, subscription)
            # A preview does not have secrets: the update shows how to import such a resource.
            if identity and identity.lower() in ids and _MASK not in json.dumps(resource):
                yield resource | {"id": identity, "outputs": {}}


def _id(resource: Mapping[str, Any], subscription: str) -> str | None:
    inputs = resource.get("inputs") or {}
    if resource["type"] in _TYPES:
        return _TYPES[resource["type"]].resource_id(subscription, inputs)
    metadata = inputs.get("metadata") or {}
    if resource["type"].startswith("kubernetes:") and "name" in metadata:
        return "/".join([*filter(None, [metadata.get("namespace")]), metadata["name"]])
    return None
