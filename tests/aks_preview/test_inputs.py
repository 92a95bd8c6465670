"""What is found in inputs before anything is sent; what programs and Pulumi import."""

import json
from typing import Any
from unittest import mock

import pulumi
import pytest

from aks_preview.aks_types import AGENT_POOL, AKS_TYPES
from aks_preview.resources import AgentPool
from aks_preview.schema import schema
from tests.aks_preview.odd import driver
from tests.aks_preview.odd.azure import POOL, OddAzure
from tests.aks_preview.odd.driver import (
    FEATURE_TYPE,
    POOL_INPUTS,
    POOL_TYPE,
    Driver,
    Outcome,
    outcome_of,
)
from tests.aks_preview.test_features import FEATURE_INPUTS


def failures(inputs: dict[str, Any], kind: str = POOL_TYPE) -> set[str]:
    found = set[str]()

    async def check(provider: Driver) -> Outcome:
        checked = await provider.ask("Check", kind, news=inputs)
        found.update(failure.property for failure in checked.failures)
        return Outcome()

    outcome_of(OddAzure(), check)
    return found


@pytest.mark.parametrize("value", ["", " ", "..", "x/..", None])
@pytest.mark.parametrize("kind", [*AKS_TYPES, FEATURE_TYPE])
def test_a_name_that_leads_to_another_path_is_refused(kind: str, value: Any) -> None:
    """`..` sent a pool's body to the cluster's path, and its deletion was the cluster's."""
    names = AKS_TYPES[kind].path_names if kind in AKS_TYPES else (*FEATURE_INPUTS,)
    assert failures(dict.fromkeys(names, "a"), kind) == set()
    assert failures(dict.fromkeys(names, driver.UNKNOWN), kind) == set()
    assert failures(dict.fromkeys(names, value), kind) == set(names)


def test_headers_without_a_value_or_on_two_lines_are_refused() -> None:
    """A line end that was pasted; and `null`, which was sent as the text None."""
    sent: dict[str, Any] = {
        "A": None,
        "B": "c\r\nd: e",
        "Good": "1",
        "Host": "x",
        "Not-Yet": driver.UNKNOWN,
    }
    sent |= {"On": True}
    expected = {f"customHeaders.{name}" for name in ("A", "B", "Host", "On")}
    assert failures(POOL_INPUTS | {"customHeaders": sent}) == expected
    assert not failures(POOL_INPUTS | {"customHeaders": driver.UNKNOWN})


def test_values_that_are_not_known_yet_preview_as_such() -> None:
    """A count that another resource gives was "a string, but has to be an integer"."""
    inputs = POOL_INPUTS | {"count": driver.UNKNOWN, "nodeLabels": {"a": driver.UNKNOWN}}
    assert not failures(inputs)

    async def preview(provider: Driver) -> Outcome:
        updated = await provider.update(POOL, POOL_INPUTS, POOL_INPUTS, inputs, preview=True)
        made = await provider.create(inputs, preview=True)
        assert updated.outputs == made.outputs == inputs
        return made

    azure = OddAzure()
    outcome_of(azure, preview)
    assert azure.phases() == []


def test_the_schema_has_what_an_import_needs() -> None:
    made = json.loads(schema())
    pool = made["resources"][AGENT_POOL.token]
    assert pool["requiredInputs"] == ["resourceGroupName", "resourceName", "agentPoolName"]
    assert made["config"]["variables"]["clientSecret"]["secret"]
    for own in made["resources"].values():
        assert all(name.isidentifier() for name in own["properties"])


@pytest.mark.parametrize("given", [None, False])
def test_a_resource_is_deleted_before_it_is_replaced_unless_its_options_differ(
    given: bool | None,
) -> None:
    """The engine asks for no Diff of a tainted resource, and created before it deleted."""
    opts = None if given is None else pulumi.ResourceOptions(delete_before_replace=given)
    with mock.patch.object(pulumi.CustomResource, "__init__") as registered:
        AgentPool("a", {}, opts)

    assert registered.call_args.args[-1].delete_before_replace is (given is None)
