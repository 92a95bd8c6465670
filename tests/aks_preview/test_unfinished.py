"""What has failed in Azure stays failed in the state, whoever looks, until an update mends it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.aks_preview.odd.azure import CLUSTER, FEATURE, POOL, OddAzure, serving
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import FEATURE_TYPE, Outcome, driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

CLUSTER_INPUTS = {"resourceGroupName": "group", "resourceName": "cluster", "location": "eastus"}
FEATURE_INPUTS = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
WHY = {"provisioningError": {"code": "QuotaExceeded", "message": "No cores are left."}}


@pytest.mark.parametrize(("kind", "path", "inputs"), [
    ("AgentPool", POOL, POOL_INPUTS), ("ManagedCluster", CLUSTER, CLUSTER_INPUTS)
])  # fmt: skip
@pytest.mark.parametrize(
    ("before", "now", "is_unfinished"),
    [
        # Whoever made it saw it fail, was cancelled, or saw nothing at all.
        (None, "Failed", True),
        (None, "Canceled", True),
        (None, "Creating", True),
        (None, "Updating", True),
        ("Creating", "Creating", True),
        ("Creating", "Failed", True),
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

    async def refresh() -> Outcome:
        async with serving(azure), driving(azure) as provider:
            token = f"aks-preview:containerservice:{kind}"
            return await provider.read(path, outputs, inputs, kind=token)

    outcome = run(refresh())

    assert bool(outcome.reasons) is is_unfinished
    assert (outcome.id, outcome.inputs) == (path, inputs)
    assert outcome.outputs["provisioningState"] == now
    for word in (now, "QuotaExceeded", "No cores are left."):
        assert (word in outcome.error) is is_unfinished


@pytest.mark.parametrize(
    ("before", "now", "is_unfinished"),
    [
        ({}, "Pending", True),
        ({}, "Registering", True),
        ({"state": "Registered"}, "Registering", True),
        ({"state": "Registered"}, "Registered", False),
        # Its provider was not told.
        ({}, "Registered", True),
        ({"state": "Pending"}, "Registered", True),
    ],
)
def test_a_feature_that_is_not_registered_stays_unfinished_after_a_refresh(
    before: dict[str, Any], now: str, is_unfinished: bool
) -> None:
    """A feature that Azure has yet to approve was fine after a refresh, and never mended."""
    azure = OddAzure()
    azure._feature = now

    async def refresh_and_mend() -> tuple[Outcome, Outcome, Outcome]:
        async with serving(azure), driving(azure) as provider:
            first = await provider.read(
                FEATURE, FEATURE_INPUTS | before, FEATURE_INPUTS, kind=FEATURE_TYPE
            )
            again = await provider.read(FEATURE, first.outputs, FEATURE_INPUTS, kind=FEATURE_TYPE)
            mended = await provider.update(
                FEATURE, again.outputs, FEATURE_INPUTS, FEATURE_INPUTS, kind=FEATURE_TYPE
            )
            return first, again, mended

    *refreshed, mended = run(refresh_and_mend())

    assert [bool(outcome.reasons) for outcome in refreshed] == [is_unfinished] * 2
    assert (mended.outputs["state"], mended.error) == ("Registered", "")
    assert ("register provider" in azure.phases()) is is_unfinished


@pytest.mark.parametrize("written", [str.upper, str.lower])
@pytest.mark.parametrize("is_import", [True, False])
@pytest.mark.parametrize(
    ("kind", "path", "inputs"),
    [
        ("containerservice:AgentPool", POOL, POOL_INPUTS),
        ("containerservice:ManagedCluster", CLUSTER, CLUSTER_INPUTS),
        ("features:FeatureRegistration", FEATURE, FEATURE_INPUTS),
    ],
)
def test_names_in_another_case_are_no_change(
    kind: str, path: str, inputs: Any, is_import: bool, written: Callable[[str], str]
) -> None:
    """`up --refresh` deleted a pool whose program wrote its group as Azure does not."""
    program = {
        name: written(value) if isinstance(value, str) else value for name, value in inputs.items()
    }
    azure = OddAzure(subject=POOL if path == FEATURE else path)
    azure._feature = "Registered"
    azure.put(path, {"properties": {k: v for k, v in inputs.items() if "Name" not in k}})
    known: Any = ({}, {}) if is_import else (program | {"state": "Registered"}, program)

    async def refresh() -> Any:
        async with serving(azure), driving(azure) as provider:
            token = f"aks-preview:{kind}"
            outcome = await provider.read(path, *known, kind=token)
            return await provider.diff(path, outcome.outputs, outcome.inputs, program, kind=token)

    assert not run(refresh()).diffs
