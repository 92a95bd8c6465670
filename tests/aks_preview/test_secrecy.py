"""What Azure's API calls a secret is one in all that the engine is told, marked or not."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from google.protobuf import json_format

from aks_preview.aks_types import AGENT_POOL, AKS_TYPES, MANAGED_CLUSTER
from aks_preview.configuration import HIDDEN
from rehearsal.offline_plug_ins.azure_native.shapes import ListOf, MapOf, ObjectOf, Shape
from tests.aks_preview.odd import clock
from tests.aks_preview.odd.azure import CLUSTER, POOL, Answer, OddAzure, serving
from tests.aks_preview.odd.driver import (
    _SECRET,
    _SIGNATURE,
    CLUSTER_TYPE,
    Outcome,
    driving,
    secret,
)
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

CLUSTER_INPUTS = {"resourceGroupName": "group", "resourceName": "cluster", "location": "eastus"}
FAILED = Answer(body={"status": "Failed", "error": {"code": "Broken", "message": "It broke."}})
VALUE = "not for everybody"
# How Azure's descriptions and names tell of secrets.
TELLING = re.compile(
    "secret|password|credential|token|private_?key|connectionstring", re.IGNORECASE
)
# Named so, and none: whether an agent may read the cluster's own.
NONE = {".securityProfile.defender.securityGating.allowSecretAccess"}


def paths(shape: Shape, path: str = "") -> Iterator[tuple[str, Shape]]:
    """All that a shape has in it."""
    yield path, shape
    match shape:
        case ObjectOf(fields=fields):
            for name, member in fields.items():
                yield from paths(member, f"{path}.{name}")
        case ListOf(item):
            yield from paths(item, f"{path}[]")
        case MapOf(value):
            yield from paths(value, f"{path}{{}}")


def last(path: str) -> str:
    return re.sub(r"[\[{].*", "", path.rpartition(".")[2])


SECRET_PATHS = sorted(
    path
    for path, _ in paths(MANAGED_CLUSTER.inputs)
    if last(path) in HIDDEN and not path.endswith(("{}", "[]"))
)


def test_properties_with_secret_names_are_secret() -> None:
    """`serverAppSecret` was in clear, beside a `secret` that was not."""
    for aks_type in AKS_TYPES.values():
        named = {path for path, _ in paths(aks_type.inputs) if TELLING.search(last(path))}
        assert {path for path in named if last(path) not in HIDDEN} <= NONE
    assert SECRET_PATHS == [
        ".aadProfile.serverAppSecret",
        ".addonProfiles{}.config",
        ".httpProxyConfig.httpProxy",
        ".httpProxyConfig.httpsProxy",
        ".servicePrincipalProfile.secret",
        ".windowsProfile.adminPassword",
    ]
    assert not [path for path, _ in paths(AGENT_POOL.inputs) if last(path) in HIDDEN]


def with_value(path: str) -> dict[str, Any]:
    """Inputs of a cluster with a value at a path."""
    value: Any = {"key": VALUE} if path.endswith("config") else VALUE
    for name in reversed(path.lstrip(".").replace("{}", ".addon").split(".")):
        value = {name: value}
    return {**CLUSTER_INPUTS, **value}


def in_clear(value: Any) -> bool:
    """Whether the value stands in an answer outside the marks of a secret."""
    match value:
        case Mapping() if value.get(_SIGNATURE) == _SECRET:
            return False
        case Mapping():
            return any(map(in_clear, value.values()))
        case list():
            return any(map(in_clear, value))
    return VALUE in str(value)


@pytest.mark.parametrize("path", SECRET_PATHS)
def test_a_secret_property_is_never_in_clear_text(path: str) -> None:
    inputs = with_value(path)

    async def outcomes() -> list[Any]:
        azure = OddAzure(CLUSTER)
        async with serving(azure), driving(azure) as provider:
            urn = f"urn:pulumi:a::b::{CLUSTER_TYPE}::c"
            checked = await provider.ask("Check", urn=urn, news=inputs)
            preview = await provider.create(inputs, kind=CLUSTER_TYPE, preview=True)
            made = await provider.create(inputs, kind=CLUSTER_TYPE)
            assert made.id == CLUSTER
            changed = {**inputs, "tags": {"a": "b"}}
            known = (CLUSTER, made.outputs, inputs, changed)
            updated = await provider.update(*known, kind=CLUSTER_TYPE)
            read = await provider.read(CLUSTER, updated.outputs, changed, kind=CLUSTER_TYPE)
            azure.bend("poll", FAILED)
            failed = await provider.update(*known, kind=CLUSTER_TYPE)
            assert failed.reasons
            answers: list[Outcome] = [preview, made, updated, read, failed]
            assert VALUE in json.dumps(updated.outputs)
            return [*(answer.raw for answer in answers), json_format.MessageToDict(checked)]

    assert not [answer for answer in clock.run(outcomes()) if in_clear(answer)]


HELD = {"hostGroupID": VALUE, "kubeletConfig": {"allowedUnsafeSysctls": [VALUE]}}


@pytest.mark.parametrize("preview", [True, False])
def test_a_secret_property_that_the_program_removes_stays_secret(preview: bool) -> None:
    """What Azure kept of it came into the state, and the next preview, in clear."""
    before = POOL_INPUTS | {name: secret(value) for name, value in HELD.items()}
    there = {"properties": POOL_INPUTS | HELD | {"provisioningState": "Succeeded"}}

    async def outcomes() -> list[Any]:
        azure = OddAzure()
        azure.put(POOL, there)
        azure.bend("get", for_ever=Answer(200, {"id": POOL, **there}))
        async with serving(azure), driving(azure) as provider:
            news = {**POOL_INPUTS, "count": 2, "kubeletConfig": {"cpuManagerPolicy": "static"}}
            updated = await provider.update(POOL, before, before, news, preview=preview)
            read = await provider.read(POOL, before, POOL_INPUTS)
            assert VALUE in json.dumps([updated.outputs, read.outputs])
            return [updated.raw, read.raw]

    assert not [answer for answer in clock.run(outcomes()) if in_clear(answer)]


def test_a_secret_that_azure_returns_in_another_property_stays_secret() -> None:
    """A tag came back in another case, a name as a part of an address: both in clear."""
    inputs = POOL_INPUTS | {"tags": {"Owner": secret(VALUE), "team": "ml"}}
    properties = {"tags": {"owner": VALUE, "team": "ml"}, "eTag": f"1-{VALUE.upper()}"}
    there = {"properties": POOL_INPUTS | properties | {"provisioningState": "Succeeded"}}

    async def outcomes() -> list[Outcome]:
        azure = OddAzure()
        async with serving(azure), driving(azure) as provider:
            azure.put(POOL, there)
            return [await provider.read(POOL, inputs, inputs)]

    (read,) = clock.run(outcomes())
    assert read.outputs["tags"] == {"owner": VALUE, "team": "ml"}
    assert not in_clear(read.raw)
    assert VALUE.upper() not in re.sub(rf'"value": "[^"]*{VALUE.upper()}', "", json.dumps(read.raw))
    assert '"team": "ml"' in json.dumps(read.raw)
