"""What has failed in Azure stays failed in the state, whoever looks, until an update mends it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.aks_preview.odd.azure import CLUSTER, FEATURE, POOL, OddAzure
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_gone import KINDS
from tests.aks_preview.test_features import FEATURE_INPUTS

WHY = {"provisioningError": {"code": "QuotaExceeded", "message": "No cores are left."}}


@pytest.mark.parametrize("path", [POOL, CLUSTER])
@pytest.mark.parametrize(
    ("before", "now", "is_unfinished"),
    [
        # Whoever made it saw it fail, was cancelled, or saw nothing at all.
        *((None, state, True) for state in ("Failed", "Canceled", "Creating", "Updating")),
        ("Failed", "Failed", True),
        (None, "Succeeded", False),
        ("Failed", "Succeeded", False),
        # It failed afterwards.
        ("Succeeded", "Failed", True),
        ("Upgrading", "Failed", True),
        # Somebody else is at work.
        ("Succeeded", "Upgrading", False),
        ("Upgrading", "Succeeded", False),
    ],
)
def test_a_refresh_reports_a_failed_provisioning_state(
    path: str, before: str | None, now: str, is_unfinished: bool
) -> None:
    """A refresh took the error away; nothing was to be done, and the pool stayed Failed."""
    kind, inputs = KINDS[path]
    outputs = inputs if before is None else inputs | {"provisioningState": before}
    azure = OddAzure(path)
    sent = {name: value for name, value in inputs.items() if "Name" not in name}
    azure.put(path, now, **sent, status=WHY)

    outcome = outcome_of(azure, lambda provider: provider.read(path, outputs, inputs, kind))

    assert bool(outcome.reasons) is is_unfinished
    assert (outcome.id, outcome.inputs) == (path, inputs)
    # What has never been finished goes on with what the program says.
    is_new = before is None and is_unfinished
    assert outcome.outputs.get("provisioningState") == (None if is_new else now)
    for word in (now, "QuotaExceeded: No cores are left."):
        assert (word in outcome.error) is is_unfinished


def test_what_azure_never_returns_replaces_nothing_after_an_unfinished_update() -> None:
    """AKS does not return `scaleSetPriority: Regular`: after Ctrl-C and a refresh, the next `up`
    would have deleted the pool and created it again.
    """
    kind, inputs = KINDS[POOL]
    program = inputs | {"scaleSetPriority": "Regular", "tags": {"a": "not sent yet"}}
    azure = OddAzure()
    azure.put(POOL, **{name: value for name, value in inputs.items() if "Name" not in name})

    async def refresh(provider: Driver) -> Outcome:
        outcome = await provider.read(POOL, program, program, kind)
        diff = await provider.diff(POOL, outcome.outputs, outcome.inputs, program, kind=kind)
        return Outcome(outcome.id, error=" ".join([*diff.diffs, *diff.replaces]))

    assert outcome_of(azure, refresh) == Outcome(POOL, error="tags")


@pytest.mark.parametrize("written", [str.upper, str.lower])
@pytest.mark.parametrize("is_import", [True, False])
@pytest.mark.parametrize(
    ("path", "kind", "inputs"),
    [*((path, *KINDS[path]) for path in KINDS), (FEATURE, FEATURE_TYPE, FEATURE_INPUTS)],
)
def test_names_in_another_case_are_no_change(
    kind: str, path: str, inputs: Any, is_import: bool, written: Callable[[str], str]
) -> None:
    """`up --refresh` deleted a pool whose program wrote its group as Azure does not.

    An import has no headers, and takes those of the program for the ones of the creation.
    """
    program = {
        name: written(value) if isinstance(value, str) else value for name, value in inputs.items()
    }
    azure = OddAzure(POOL if path == FEATURE else path)
    azure.feature = "Registered"
    azure.put(path, **{name: value for name, value in inputs.items() if "Name" not in name})
    outputs, old = ({}, {}) if is_import else (program | {"state": "Registered"}, program)
    later = program | ({"customHeaders": {"A": "b"}} if is_import and path != FEATURE else {})

    async def refresh(provider: Driver) -> Outcome:
        outcome = await provider.read(path, outputs, old, kind)
        diff = await provider.diff(path, outcome.outputs, outcome.inputs, later, kind=kind)
        return Outcome(outcome.id, error=" ".join([*diff.diffs, *diff.replaces]))

    assert outcome_of(azure, refresh) == Outcome(path)
