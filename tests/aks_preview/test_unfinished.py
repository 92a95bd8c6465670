"""What has failed in Azure stays failed in the state, whoever looks, until an update mends it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.aks_preview.odd.azure import CLUSTER, FEATURE, POOL, OddAzure
from tests.aks_preview.odd.driver import (
    CLUSTER_TYPE,
    FEATURE_TYPE,
    POOL_TYPE,
    Driver,
    Outcome,
    outcome_of,
)
from tests.aks_preview.odd.test_gone import CLUSTER_INPUTS
from tests.aks_preview.odd.test_instrument import POOL_INPUTS
from tests.aks_preview.test_features import FEATURE_INPUTS

WHY = {"provisioningError": {"code": "QuotaExceeded", "message": "No cores are left."}}
SUBJECTS: list[tuple[str, str, dict[str, Any]]] = [
    (POOL_TYPE, POOL, POOL_INPUTS),
    (CLUSTER_TYPE, CLUSTER, CLUSTER_INPUTS),
]


@pytest.mark.parametrize(("kind", "path", "inputs"), SUBJECTS)
@pytest.mark.parametrize(
    ("before", "now", "is_unfinished"),
    [
        # Whoever made it saw it fail, was cancelled, or saw nothing at all.
        *((None, state, True) for state in ("Failed", "Canceled", "Creating", "Updating")),
        ("Creating", "Creating", True),
        ("Failed", "Failed", True),
        (None, "Succeeded", False),
        ("Failed", "Succeeded", False),
        # It failed afterwards.
        ("Succeeded", "Failed", True),
        ("Succeeded", "Canceled", True),
        # Somebody else is at work.
        ("Succeeded", "Upgrading", False),
        ("Upgrading", "Succeeded", False),
        ("Upgrading", "Failed", True),
    ],
)
def test_a_refresh_reports_a_failed_provisioning_state(
    kind: str, path: str, inputs: dict[str, Any], before: str | None, now: str, is_unfinished: bool
) -> None:
    """A refresh took the error away; nothing was to be done, and the pool stayed Failed."""
    outputs = inputs if before is None else inputs | {"provisioningState": before}
    azure = OddAzure(subject=path)
    sent = {name: value for name, value in inputs.items() if "Name" not in name}
    azure.put(path, {"properties": {**sent, "provisioningState": now, "status": WHY}})

    outcome = outcome_of(azure, lambda provider: provider.read(path, outputs, inputs, kind=kind))

    assert bool(outcome.reasons) is is_unfinished
    assert (outcome.id, outcome.inputs) == (path, inputs)
    assert outcome.outputs["provisioningState"] == now
    for word in (now, "QuotaExceeded", "No cores are left."):
        assert (word in outcome.error) is is_unfinished


@pytest.mark.parametrize("written", [str.upper, str.lower])
@pytest.mark.parametrize("is_import", [True, False])
@pytest.mark.parametrize(
    ("kind", "path", "inputs"), [*SUBJECTS, (FEATURE_TYPE, FEATURE, FEATURE_INPUTS)]
)
def test_names_in_another_case_are_no_change(
    kind: str, path: str, inputs: Any, is_import: bool, written: Callable[[str], str]
) -> None:
    """`up --refresh` deleted a pool whose program wrote its group as Azure does not.

    An import brings what Azure has, without headers, and its next preview changes nothing.
    """
    program = {
        name: written(value) if isinstance(value, str) else value for name, value in inputs.items()
    }
    azure = OddAzure(subject=POOL if path == FEATURE else path)
    azure._feature = "Registered"
    azure.put(path, {"properties": {k: v for k, v in inputs.items() if "Name" not in k}})
    known: Any = ({}, {}) if is_import else (program | {"state": "Registered"}, program)
    later = program | ({"customHeaders": {"A": "b"}} if is_import and path != FEATURE else {})

    async def refresh(provider: Driver) -> Outcome:
        outcome = await provider.read(path, *known, kind=kind)
        assert outcome.id == path
        diff = await provider.diff(path, outcome.outputs, outcome.inputs, later, kind=kind)
        return Outcome(error=" ".join([*diff.diffs, *diff.replaces]))

    assert outcome_of(azure, refresh).error == ""
