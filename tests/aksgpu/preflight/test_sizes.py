"""The answers about sizes, made true and false by the rehearsal's script."""

from datetime import date
from typing import Any

import pytest

from aksgpu.outcome import Cause
from aksgpu.preflight import requirements, sizes
from tests.aksgpu.preflight.conftest import (
    T4,
    Place,
    cluster_with,
    facts_with,
    offered,
    stack_of,
    the,
)

SIZE = T4["vmSize"]


def test_an_offered_size_passes(place: Place) -> None:
    result = place.ask(gpuPools=[T4])
    assert result.exit_code == 0
    assert {row.answer for row in result.rows} == {"ok"}
    assert the(result, "size", "t4").what == f"{SIZE} is offered in eastus, zones 1, 2, 3"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"is": "absent"}, "is not offered in eastus"),
        ({"is": "restricted"}, "is not offered to this subscription in eastus"),
        ({"is": "restricted", "reason": "QuotaId"}, "is not sold to subscriptions of this offer"),
    ],
)
def test_a_size_that_is_not_offered_is_reported_with_the_nearest_sizes(
    place: Place, line: dict[str, Any], words: str
) -> None:
    place.offer(sizes=[{"size": SIZE, "location": "eastus"} | line])
    result = place.ask(gpuPools=[T4])
    row = the(result, "size", "t4")
    assert (row.answer, row.cause, row.key) == (
        "problem",
        Cause.NOT_OFFERED,
        "gpuPools[0].vmSize",
    )
    assert words in row.what
    assert "use a size such as Standard_NC16as_T4_v3, Standard_NC4as_T4_v3," in row.advice
    assert result.exit_code == Cause.NOT_OFFERED.exit_code
    # What holds elsewhere holds there.
    assert place.ask(gpuPools=[T4], location="westeurope").exit_code == 0


def test_a_restricted_size_is_not_recommended(place: Place) -> None:
    gone = [{"size": size, "is": "restricted"} for size in (SIZE, "Standard_NC4as_T4_v3")]
    place.offer(sizes=gone)
    advice = the(place.ask(gpuPools=[T4]), "size", "t4").advice
    assert "Standard_NC16as_T4_v3" in advice
    assert "Standard_NC4as_T4_v3" not in advice


def test_sizes_without_gpus_are_recommended_for_a_system_pool(place: Place) -> None:
    place.offer(sizes=[{"size": "Standard_D4ds_v5", "is": "absent"}])
    advice = the(place.ask(), "size", "system").advice
    assert "Standard_D4" in advice
    assert "Standard_N" not in advice


def test_zones_that_are_closed_to_the_subscription_are_reported(place: Place) -> None:
    pool = T4 | {"zones": ["1", "2"]}
    assert the(place.ask(gpuPools=[pool]), "zones", "t4").answer == "ok"
    place.offer(sizes=[{"size": SIZE, "is": "restricted", "zones": [2]}])
    row = the(place.ask(gpuPools=[pool]), "zones", "t4")
    assert (row.answer, row.cause) == ("problem", Cause.NOT_OFFERED)
    assert row.what == f"{SIZE} is not offered to this subscription in zone 2 of eastus"
    assert row.advice.startswith(
        "use zones 1, 3, or use a size that is in all these zones, such as "
    )
    # A pool without zones is not concerned.
    assert place.ask(gpuPools=[T4]).exit_code == 0


def test_zones_in_a_region_without_zones_are_reported(place: Place) -> None:
    row = the(place.ask(gpuPools=[T4 | {"zones": ["1"]}], location="westus"), "zones", "t4")
    assert (row.answer, row.advice) == ("problem", "remove the zones")


def test_an_unknown_region_is_reported(place: Place) -> None:
    result = place.ask(gpuPools=[T4], location="eastuss")
    row = the(result, "size", "t4")
    assert row.what == "no VM size is offered in eastuss"
    assert "az account list-locations" in row.advice


def test_a_size_without_spot_is_reported_for_a_spot_pool() -> None:
    settings = stack_of(gpuPools=[T4 | {"spot": True}])
    pools = requirements.pools(settings)[1:]
    for can_be_spot, answer in ((True, "ok"), (False, "problem")):
        facts = facts_with(offered(SIZE, can_be_spot=can_be_spot))
        rows = {row.question: row for row in sizes.judge(pools, facts, date(2026, 11, 21))}
        assert rows["spot"].answer == answer


@pytest.mark.parametrize(
    ("day", "is_listed", "answer", "words"),
    [
        (date(2026, 9, 30), True, "warning", "was retired on 2026-09-30; it works as long as"),
        (date(2026, 9, 30), False, "problem", "was retired on 2026-09-30"),
        (date(2026, 9, 29), True, "warning", "will be retired on 2026-09-30"),
    ],
)
def test_a_retired_size_is_reported_by_its_date(
    day: date, is_listed: bool, answer: str, words: str
) -> None:
    size = "Standard_NV12s_v3"
    settings = stack_of(allowRetired="true", gpuPools=[T4 | {"vmSize": size}])
    facts = facts_with(*([offered(size)] if is_listed else []), offered("Standard_D4ds_v5"))
    rows = {row.question: row for row in sizes.judge(requirements.pools(settings)[1:], facts, day)}
    row = rows["retired"]
    assert row.answer == answer
    assert words in row.what
    assert row.advice == "use Standard_NV36ads_A10_v5"


def test_an_existing_pool_keeps_its_retired_size() -> None:
    """A change that scales it down must not be refused for what Azure sells no more."""
    size = "Standard_NV12s_v3"
    pools = requirements.pools(stack_of(gpuPools=[T4 | {"vmSize": size}]))[1:]
    for there, answers in ((size, {"warning"}), (SIZE, {"problem"})):
        cluster = cluster_with({"name": "t4", "vmSize": there, "count": 2})
        facts = facts_with(offered("Standard_D4ds_v5"), cluster=cluster)
        rows = [*sizes.judge(pools, facts, date(2026, 9, 30))]
        assert {row.question for row in rows} == {"size", "retired"}
        assert {row.answer for row in rows} == answers


@pytest.mark.parametrize(("is_rehearsal", "answer"), [(True, "warning"), (False, "problem")])
def test_a_size_that_is_in_no_table_is_judged_by_azures_list(
    is_rehearsal: bool, answer: str
) -> None:
    pools = requirements.pools(stack_of(gpuPools=[T4 | {"vmSize": "Standard_ND7_v9"}]))[1:]
    facts = facts_with(offered("Standard_D4ds_v5"), is_rehearsal=is_rehearsal)
    [row] = sizes.judge(pools, facts, date(2026, 11, 22))
    assert (row.question, row.answer) == ("size", answer)


def test_a_retired_size_that_is_not_offered_is_reported_as_retired(place: Place) -> None:
    pool = T4 | {"vmSize": "Standard_NC6s_v3"}
    result = place.ask(allowRetired="true", gpuPools=[pool])
    assert result.verdict is Cause.NOT_OFFERED
    assert the(result, "size", "t4").cause is Cause.NOT_OFFERED
