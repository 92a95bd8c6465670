"""What is found in inputs before anything is sent; what programs and Pulumi import."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import pulumi
import pytest
from azure.mgmt.containerservice import ContainerServiceClient
from hypothesis import given
from hypothesis import strategies as st

from aks_catalogue.aks_types import aks_types
from aks_preview.aks_diff import aks_diff
from aks_preview.aks_resource import header_mistakes
from aks_preview.aks_types import AGENT_POOL, AKS_TYPES, HEADERS, AksType
from aks_preview.configuration import SETTINGS
from aks_preview.resources import AgentPool, FeatureRegistration, ManagedCluster
from aks_preview.schema import schema
from provider_kit.configuration import setting_mistakes
from provider_kit.values import UNKNOWN
from tests.aks_preview.odd import driver
from tests.aks_preview.odd.azure import POOL, OddAzure
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_instrument import POOL_INPUTS
from tests.aks_preview.test_features import FEATURE_INPUTS

SECRET = "a-secret"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"UseGPUDedicatedVHD": "true", "usegen2vm": "true"}, []),
        ({"a": "b", "X-Y_z.1": "a b;c=d, e"}, []),
        *((unknown, []) for unknown in ({"a": UNKNOWN}, UNKNOWN, None)),
        ({"a b": "c"}, ['["a b"]']),
        ({"ü": "c", "": "c", "a:": "c"}, [".ü", '[""]', '["a:"]']),
        # A line end that was pasted.
        ({"a": "", "b": " c", "d": "e\r\nf: g", "h": "ü", "i": None}, [".a", ".b", ".d", ".h", ".i"]),
        ({"Authorization": "Bearer x", "HOST": "x"}, [".Authorization", ".HOST"]),
        ({"content-type": "x", "If-Match": "*"}, ['["content-type"]', '["If-Match"]']),
        ({"a": "b", "A": "c"}, [".A"]),
    ],
)
def test_invalid_headers_are_reported_by_path(headers: Any, expected: list[str]) -> None:
    reported = list(header_mistakes({HEADERS: headers}))

    assert [mistake.path for mistake in reported] == [f"customHeaders{path}" for path in expected]


def test_invalid_settings_are_reported_without_their_values() -> None:
    given = {"useMsi": "perhaps", "useOidc": "true", "clientID": SECRET, "version": "0.1.0"}

    reported = list(setting_mistakes(given, SETTINGS))

    assert [mistake.path for mistake in reported] == ["clientID", "useMsi"]
    assert not any(SECRET in mistake.reason for mistake in reported)


def failures(inputs: dict[str, Any], token: str) -> set[str]:
    found = set[str]()

    async def check(provider: Driver) -> Outcome:
        urn = f"urn:pulumi:test::odd::{token}::subject"
        checked = await provider.ask("Check", urn=urn, news=inputs)
        found.update(failure.property for failure in checked.failures)
        return Outcome()

    outcome_of(OddAzure(), check)
    return found


@pytest.mark.parametrize("value", ["", " ", "..", "x/..", None])
@pytest.mark.parametrize("token", [*AKS_TYPES, FEATURE_TYPE])
def test_a_name_that_leads_to_another_path_is_refused(token: str, value: Any) -> None:
    """`..` sent a pool's body to the cluster's path, and its deletion was the cluster's."""
    names = AKS_TYPES[token].path_names if token in AKS_TYPES else (*FEATURE_INPUTS,)
    assert failures(dict.fromkeys(names, "a"), token) == set()
    assert failures(dict.fromkeys(names, driver.UNKNOWN), token) == set()
    if token == FEATURE_TYPE and value == "..":
        return
    assert failures(dict.fromkeys(names, value), token) == set(names)


@pytest.mark.parametrize("aks_type", AKS_TYPES.values())
def test_the_tables_name_properties_that_azure_has(aks_type: AksType) -> None:
    outer = {"AgentPool": "AgentPoolManagedClusterAgentPoolProfileProperties"}
    table = aks_types()
    kept = table[outer.get(aks_type.name, "ManagedClusterProperties")]
    known = {*kept, *table[aks_type.name], *aks_type.path_names}
    named = {*aks_type.replaces, *aks_type.envelope, *aks_type.known.emptied_by}

    assert not {path.partition(".")[0] for path in named} - known


def test_the_default_api_version_is_that_of_the_sdks_types() -> None:
    client = ContainerServiceClient("", "x", "https://x")  # type: ignore[arg-type]

    assert client._config.api_version == SETTINGS["apiVersion"].default


ODD = st.recursive(
    st.sampled_from([UNKNOWN, "text", 1.5, True]),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from(["name", "count", "nvidia", "driver"]), inner, max_size=2),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["vmSize", "count", "gpuProfile", "tags", "agentPoolProfiles", "customHeaders", "nodeTaints"]
)
ODD_INPUTS = st.dictionaries(NAMES, ODD, max_size=4)


@given(ODD_INPUTS, ODD_INPUTS)
def test_any_inputs_can_be_compared(before: dict[str, Any], now: dict[str, Any]) -> None:
    """A header without a value, and an inline pool without a name, ended in a traceback."""
    for aks_type in AKS_TYPES.values():
        old, new = POOL_INPUTS | before, POOL_INPUTS | now
        list(header_mistakes(new))
        assert aks_diff(aks_type, old, old | {"customHeaders": {}}, old).changes is False
        aks_diff(aks_type, old, old, new)


def test_values_that_are_not_known_yet_preview_as_such() -> None:
    """A count that another resource gives was "a string, but has to be an integer"."""
    inputs = POOL_INPUTS | {"count": driver.UNKNOWN, "nodeLabels": {"a": driver.UNKNOWN}}
    assert not failures(inputs, driver.POOL_TYPE)

    async def preview(provider: Driver) -> Outcome:
        known = (POOL, POOL_INPUTS, POOL_INPUTS, inputs)
        updated = await provider.update(*known, preview=True)
        assert updated.outputs["nodeLabels"] == {"a": driver.UNKNOWN}
        return await provider.create(inputs, preview=True)

    azure = OddAzure()
    made = outcome_of(azure, preview)
    assert (made.outputs["count"], azure.phases()) == (driver.UNKNOWN, [])
    assert made.outputs["vmSize"] == POOL_INPUTS["vmSize"]


def test_the_schema_has_what_an_import_needs() -> None:
    made = json.loads(schema())
    pool = made["resources"][AGENT_POOL.token]
    assert pool["requiredInputs"] == ["resourceGroupName", "resourceName", "agentPoolName"]
    assert made["config"]["variables"]["clientSecret"]["secret"]
    for own in made["resources"].values():
        assert all(name.isidentifier() for name in own["properties"])


def test_a_program_loads_neither_azure_nor_a_server() -> None:
    code = (
        "import sys; import pulumi; before = set(sys.modules); import aks_preview.resources;"
        "more = set(sys.modules) - before;"
        "print([name for name in more if not name.startswith(('aks_preview', 'aks_catalogue'))])"
    )

    same = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, env=same, capture_output=True, text=True, check=True)

    assert loaded.stdout.strip() == "[]"


Make = Callable[[pulumi.ResourceOptions | None], object]
CLASSES: list[Make] = [
    lambda opts: AgentPool("a", {}, opts),
    lambda opts: ManagedCluster("a", {}, opts),
    lambda opts: FeatureRegistration("a", provider_namespace="A", feature_name="B", opts=opts),
]


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("given", [None, False])
def test_a_resource_is_deleted_before_it_is_replaced_unless_its_options_differ(
    make: Make, given: bool | None
) -> None:
    """The engine asks for no Diff of a tainted resource, and created before it deleted."""
    opts = None if given is None else pulumi.ResourceOptions(delete_before_replace=given)
    with mock.patch.object(pulumi.CustomResource, "__init__") as registered:
        make(opts)

    assert registered.call_args.args[-1].delete_before_replace is (given is None)
