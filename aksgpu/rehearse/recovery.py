"""Makes a stack usable again after an update that was killed midway."""

import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aks_preview.aks_types import AKS_TYPES
from aksgpu.rehearse.left import BROKEN, is_in, lost, name_of, under_way
from aksgpu.rehearse.locks import lift_locks
from aksgpu.running import Program
from engine.cache import Say
from provider_kit.arm_types import ArmType
from rehearsal.cloud import Cloud
from rehearsal.stand_ins.azure_native.native_types import TYPES

Resource = dict[str, Any]

_TYPES: Mapping[str, ArmType] = {**TYPES, **AKS_TYPES}
# What a preview says of what Azure has by then.
_SAID = ("aliases", "custom", "dependencies", "inputs", "parent", "propertyDependencies", "protect",
         "provider", "type", "urn")  # fmt: skip
# What the engine writes in the place of a secret.
_MASK = '"[secret]"'
# Makes the next update write the resource again.
_UNFINISHED = {"initErrors": ["An update that was killed has begun it."]}


def recover(pulumi: Program, stack: str, state: Path, cloud: Cloud, say: Say) -> None:
    """Lifts the lock of a dead update, and settles what it had begun and not recorded.

    Whoever is killed here too begins anew. Raises ProgramError where another update of the stack
    is, or may be, at work.
    """
    lift_locks(stack, state, say)
    exported = pulumi.read_json("stack", "export", "--stack", stack)
    pending = exported["deployment"].get("pending_operations") or []
    begun = list(_begun(pending, cloud.subscription))
    if pending:
        say(
            f"An earlier update left {len(pending)} operations unfinished; asking Azure about them."
        )
    unknown = lost(state, cloud.request_log) - {name_of(each) for each in begun}
    if unknown and (found := list(_wanted(pulumi, stack, cloud.subscription, unknown))):
        say(f"An earlier update lost sight of {len(found)} resources; asking Azure about them.")
        begun += found
    if begun or pending:
        exported["deployment"]["resources"] = _with(_resources(exported), begun)
        _write(pulumi, stack, state, exported)
    asked = {each["urn"] for each in begun} | {each["resource"]["urn"] for each in pending}
    settled = _settled(pulumi, stack, exported, asked, say)
    broken = [each for each in _resources(settled) if each["urn"] in asked and is_in(each, BROKEN)]
    for each in broken:
        each.update(_UNFINISHED)
    if broken:
        _write(pulumi, stack, state, settled)


def _settled(
    pulumi: Program, stack: str, exported: dict[str, Any], asked: Collection[str], say: Say
) -> dict[str, Any]:
    """The state once nothing in it is under way; what Azure does not have is not in it any more."""
    told = ""
    while True:
        waiting = under_way(_resources(exported))
        targets = waiting.union(asked) & {each["urn"] for each in _resources(exported)}
        if not targets:
            return exported
        names = ", ".join(sorted(urn.rpartition("::")[2] for urn in waiting))
        if names not in {"", told}:
            say(f"Waits for Azure, which is at work on {names}.")
            told = names
        chosen = [f"--target={urn}" for urn in sorted(targets)]
        pulumi.read("refresh", "--yes", "--skip-preview", "--stack", stack, *chosen)
        exported, asked = pulumi.read_json("stack", "export", "--stack", stack), ()


def _resources(exported: Mapping[str, Any]) -> list[Resource]:
    return exported["deployment"].get("resources") or []


def _write(pulumi: Program, stack: str, state: Path, exported: Mapping[str, Any]) -> None:
    with tempfile.TemporaryDirectory(dir=state) as folder:
        file = Path(folder) / "deployment.json"
        file.write_text(json.dumps(exported), encoding="utf-8")
        # This forgets what is pending.
        pulumi.read("stack", "import", "--stack", stack, "--file", str(file))


def _with(resources: Iterable[Resource], begun: Iterable[Resource]) -> list[Resource]:
    """The resources of a state with those that were begun, in the places of what they replace."""
    new = {each["urn"]: each | _UNFINISHED for each in begun}
    old = []
    made = []
    for each in resources:
        if each.get("delete") or each["urn"] not in new:
            made.append(each)
        else:
            made.append(taken := new.pop(each["urn"]))
            is_another = each.get("id", "").lower() != taken["id"].lower()
            if is_another and not each.get("pendingReplacement"):
                old.append(each | {"delete": True})
    # The engine has what is to be deleted at the end.
    return [*made, *new.values(), *old]


def _begun(pending: Iterable[Mapping[str, Any]], subscription: str) -> Iterator[Resource]:
    """The resources whose creation was begun, under the ids that they then have."""
    for operation in pending:
        resource = operation["resource"]
        if operation["type"] == "creating" and (found := _id(resource, subscription)):
            yield resource | {"id": found}


def _wanted(
    pulumi: Program, stack: str, subscription: str, names: Collection[str]
) -> Iterator[Resource]:
    """Those of the resources of these names in Azure that the program would make."""
    ended = pulumi.attempt("preview", "--json", "--stack", stack)
    with suppress(ValueError):
        # What keeps the program from running keeps the update, which tells it.
        for step in json.loads(ended.out).get("steps") or ():
            new = step.get("newState") or {}
            if step["op"] not in {"create", "replace"} or new.get("type") not in _TYPES:
                continue
            resource = {name: new[name] for name in _SAID if name in new}
            found = _id(new, subscription)
            # A secret is not in a preview: the update tells how to take such a resource over.
            if found and found.lower() in names and _MASK not in json.dumps(resource):
                yield resource | {"id": found, "outputs": {}}


def _id(resource: Mapping[str, Any], subscription: str) -> str | None:
    inputs = resource.get("inputs") or {}
    if resource["type"] in _TYPES:
        return _TYPES[resource["type"]].resource_id(subscription, inputs)
    metadata = inputs.get("metadata") or {}
    if resource["type"].startswith("kubernetes:") and "name" in metadata:
        return "/".join([*filter(None, [metadata.get("namespace")]), metadata["name"]])
    return None
