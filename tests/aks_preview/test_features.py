"""Features are registered, awaited, and known to AKS before a pool that needs them fails."""

from typing import Any

import pytest

from tests.aks_preview.odd.azure import FEATURE, Answer, OddAzure, refusal
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_events import CUT, DROPPED, HTML, REGISTERING, SLOW
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

FEATURE_INPUTS = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
NEITHER = {"id": FEATURE, "properties": {"state": "Registering"}}
REFUSED = refusal(403, "AuthorizationFailed", "Not by you.")
UNKNOWN = refusal(400, "PreviewFeatureNotRegistered", "Preview feature A/New not registered.")


def register(provider: Driver, seconds: float = 0) -> Any:
    return provider.create(FEATURE_INPUTS, kind=FEATURE_TYPE, seconds=seconds)


@pytest.mark.parametrize(
    ("bent", "error", "kept"),
    [
        ({"feature": [Answer(200, NEITHER)] * 3, "provider": [REGISTERING] * 2}, "", True),
        ({"register": [DROPPED, SLOW, HTML], "feature": [CUT]}, "", True),
        ({"register": [REFUSED]}, "AuthorizationFailed", False),
        ({"register provider": [REFUSED]}, "AuthorizationFailed", True),
        ({"feature": [REFUSED]}, "AuthorizationFailed", True),
        ({"feature": [Answer(200, NEITHER)] * 99}, "New of Microsoft.ContainerService is", True),
    ],
)
def test_a_feature_is_registered_and_then_its_provider(
    bent: dict[str, list[Answer]], error: str, kept: bool
) -> None:
    azure, log = OddAzure(), list[str]()
    for phase, answers in bent.items():
        azure.bend(phase, *answers)

    async def live(provider: Driver) -> Outcome:
        outcome: Outcome = await register(provider, 200)
        log.extend(provider.log)
        return outcome

    outcome = outcome_of(azure, live)

    assert (outcome.id, bool(outcome.error)) == (FEATURE if kept else "", bool(error))
    assert error in outcome.error
    assert bool(outcome.reasons) is bool(kept and error)
    if not error:
        phases = azure.phases()
        assert phases.index("register") < phases.index("register provider")
        assert "The provider Microsoft.ContainerService is Registered." in log
        assert outcome.outputs["state"] == "Registered"


@pytest.mark.parametrize(
    ("before", "now", "is_unfinished"),
    [
        ({}, "Pending", True),
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

    async def refresh_and_mend(provider: Driver) -> Outcome:
        known = FEATURE_INPUTS | before
        for _ in range(2):
            read = await provider.read(FEATURE, known, FEATURE_INPUTS, kind=FEATURE_TYPE)
            assert bool(read.reasons) is is_unfinished
            known = dict(read.outputs)
        both = FEATURE_INPUTS, FEATURE_INPUTS
        return await provider.update(FEATURE, known, *both, kind=FEATURE_TYPE)

    mended = outcome_of(azure, refresh_and_mend)

    assert (mended.outputs["state"], mended.error) == ("Registered", "")
    assert ("register provider" in azure.phases()) is is_unfinished


@pytest.mark.parametrize("more", [{}, {"unregisterOnDelete": True}])
def test_a_feature_stays_registered_unless_its_removal_is_asked_for(more: dict[str, Any]) -> None:
    azure, log = OddAzure(), list[str]()

    async def live(provider: Driver) -> Outcome:
        known = FEATURE_INPUTS | more
        outcome = await provider.delete(FEATURE, known, kind=FEATURE_TYPE)
        log.extend(provider.log)
        return outcome

    assert outcome_of(azure, live).error == ""
    assert azure.phases() == (["unregister"] if more else [])
    assert bool(log) is not bool(more)


@pytest.mark.parametrize("is_registered", [True, False])
def test_a_pool_waits_until_aks_knows_a_feature_that_was_just_registered(
    is_registered: bool,
) -> None:
    """Its provider is Registered all the time, and says nothing of what it has taken over."""
    azure = OddAzure()
    azure.bend("put", UNKNOWN, UNKNOWN)

    async def live(provider: Driver) -> Outcome:
        if is_registered:
            await register(provider)
        return await provider.create(POOL_INPUTS)

    outcome = outcome_of(azure, live)

    assert azure.phases().count("put") == (3 if is_registered else 1)
    assert ("with a FeatureRegistration" in outcome.error) is not is_registered
