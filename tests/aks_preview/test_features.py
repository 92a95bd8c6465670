"""Features are registered, awaited, and known to AKS before a pool that needs them fails."""

from typing import Any

import pytest

from tests.aks_preview.odd.azure import FEATURE, Answer, OddAzure, refusal
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_events import CUT, DROPPED, HTML, POLICY, REGISTERING, SLOW, create

FEATURE_INPUTS = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
BOTH = (FEATURE_INPUTS, FEATURE_INPUTS)
WAITING = Answer(200, {"id": FEATURE, "properties": {"state": "Registering"}})
UNKNOWN = refusal(400, "PreviewFeatureNotRegistered", "Preview feature A/New not registered.")


async def register(provider: Driver) -> Outcome:
    return await provider.create(FEATURE_INPUTS, kind=FEATURE_TYPE, timeout=200)


@pytest.mark.parametrize(
    ("bent", "error", "kept"),
    [
        ({"feature": [WAITING] * 3, "provider": [REGISTERING] * 2}, "", True),
        ({"register": [DROPPED, SLOW, HTML], "feature": [CUT]}, "", True),
        ({"register": [POLICY]}, "disallowed by policy", False),
        ({"register provider": [POLICY]}, "disallowed by policy", True),
        ({"feature": [POLICY]}, "disallowed by policy", True),
        ({"feature": [WAITING] * 99}, "The operation timed out", True),
    ],
)
def test_a_feature_is_registered_and_then_its_provider(
    bent: dict[str, list[Answer]], error: str, kept: bool
) -> None:
    azure, log = OddAzure(), list[str]()
    for phase, answers in bent.items():
        azure.bend(phase, *answers)

    async def live(provider: Driver) -> Outcome:
        outcome = await register(provider)
        log.extend(provider.log)
        return outcome

    outcome = outcome_of(azure, live)

    assert (outcome.id, error in outcome.error) == (FEATURE if kept else "", True)
    assert bool(outcome.reasons) is bool(kept and error)
    if not error:
        phases = azure.phases()
        assert phases.index("register") < phases.index("register provider")
        assert "The provider Microsoft.ContainerService is Registered." in log
        assert (outcome.outputs["state"], outcome.error) == ("Registered", "")


@pytest.mark.parametrize(
    ("before", "now", "is_unfinished"),
    [
        (None, "Pending", True),
        ("Registered", "Registering", True),
        ("Registered", "Registered", False),
        # Its provider was not told.
        (None, "Registered", True),
        ("Pending", "Registered", True),
    ],
)
def test_a_feature_that_is_not_registered_stays_unfinished_after_a_refresh(
    before: str | None, now: str, is_unfinished: bool
) -> None:
    """A feature that Azure has yet to approve was fine after a refresh, and never mended."""
    azure = OddAzure()
    azure.feature = now

    async def refresh_and_mend(provider: Driver) -> Any:
        known: Any = FEATURE_INPUTS | ({"state": before} if before else {})
        for _ in range(2):
            read = await provider.read(FEATURE, known, FEATURE_INPUTS, FEATURE_TYPE)
            assert bool(read.reasons) is is_unfinished
            known = read.outputs
        return await provider.update(FEATURE, known, *BOTH, kind=FEATURE_TYPE)

    mended = outcome_of(azure, refresh_and_mend)

    assert (mended.outputs["state"], mended.error) == ("Registered", "")
    assert ("register provider" in azure.phases()) is is_unfinished


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
        return await create(provider)

    outcome = outcome_of(azure, live)

    assert len(azure.puts()) == (3 if is_registered else 1)
    assert ("with a FeatureRegistration" in outcome.error) is not is_registered


def test_a_feature_that_azure_has_given_up_leaves_the_state() -> None:
    """Its 404 was no proof: refresh and destroy of the whole stack failed."""
    azure = OddAzure()
    gone = refusal(404, "FeatureNotFound", "The feature 'New' could not be found.")
    for phase in ("feature", "unregister"):
        azure.bend(phase, for_ever=gone)
    inputs = FEATURE_INPUTS | {"unregisterOnDelete": True}

    async def live(provider: Driver) -> Outcome:
        found = await provider.read(FEATURE, inputs, inputs, FEATURE_TYPE)
        assert (found.id, found.error) == ("", "")
        return await provider.delete(FEATURE, inputs, FEATURE_TYPE)

    assert outcome_of(azure, live).error == ""
