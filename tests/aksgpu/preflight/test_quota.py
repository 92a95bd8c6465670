"""The answers about quota: how far it goes, for how many pools, and what is counted already."""

from typing import Any

import pytest

from aks_catalogue.rotation import LABEL
from aksgpu.outcome import Cause
from aksgpu.preflight import quota, requirements
from aksgpu.preflight.facts import Quota, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from stack_settings.reading import SettingsError
from tests.aksgpu.preflight.conftest import ELSEWHERE, T4, Place, facts_with, offered, stack_of, the

FAMILY = "Standard NCASv3_T4 Family"


def limits(**by_name: int) -> dict[str, Any]:
    return {"limits": [{"name": name, "limit": limit} for name, limit in by_name.items()]}


def family(limit: int) -> dict[str, Any]:
    return {"limits": [{"name": FAMILY, "limit": limit}]}


def test_a_sufficient_quota_passes(place: Place) -> None:
    place.offer(**family(24))
    result = place.ask(gpuPools=[T4])
    assert result.exit_code == 0
    assert f"{FAMILY}: limit 24, used 0, needed at most 24" in the(result, "quota", "t4").what


# Two nodes of eight cores at first, four at most, and one of a surge; four cores are another's.
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (44, ""),
        (43, "enough for the most nodes, too little for the surge nodes of an upgrade"),
        (36, "enough for the most nodes, too little for the surge"),
        (35, "enough for the first nodes, too little for the most nodes"),
        (20, "enough for the first nodes, too little for the most nodes"),
        (19, "too little for the first nodes"),
        (0, "too little for the first nodes"),
    ],
)
def test_a_small_quota_names_the_nodes_that_it_allows(limit: int, words: str) -> None:
    # Either list writes the family in its own way.
    size = offered(T4["vmSize"], family="standardncasv3_t4family")
    quotas = {"standardncasv3_t4family": Quota(name=FAMILY, limit=limit, used=4)}
    pools = requirements.pools(stack_of(gpuPools=[T4 | {"minCount": 0, "maxCount": 4}]))[1:]
    row, _ = quota.judge(pools, facts_with(size, quotas=quotas))
    assert row.answer == ("problem" if words else "ok")
    assert words in row.what


def test_the_advice_about_quota_names_limit_family_and_scope(place: Place) -> None:
    place.offer(**family(8))
    result = place.ask(gpuPools=[T4])
    assert result.verdict is Cause.QUOTA_TOO_SMALL
    row = the(result, "quota", "t4")
    assert "a limit of 24 or more at https://aka.ms/prodquotaincrease" in row.advice
    scope = f"{place.azure.subscription}/providers/Microsoft.Compute/locations/eastus"
    command = f"--resource-name '{FAMILY}' --scope {scope} --limit-object value=24"
    assert command in row.advice
    assert row.figures == {
        "quota": FAMILY,
        "limit": 8,
        "used": 0,
        "usedByThisStack": 0,
        "needed": 24,
        "limitNeeded": 24,
        "left": 8,
    }


def test_an_autoscaled_pool_needs_quota_for_its_maximum(place: Place) -> None:
    pool = T4 | {"count": 1, "minCount": 0, "maxCount": 20, "maxSurge": "1"}
    place.offer(**family(100))
    row = the(place.ask(gpuPools=[pool]), "quota", "t4")
    assert row.key == "gpuPools[0].maxCount"
    assert "needed at most 168 (168 for 20 nodes and 1 surge node with 8 vCPUs each)" in row.what
    assert "enough for the first nodes, too little for the most nodes" in row.what


def test_pools_share_the_quota_of_their_family(place: Place) -> None:
    pools = [T4, T4 | {"name": "other", "vmSize": "Standard_NC4as_T4_v3"}]
    place.offer(**family(24))
    result = place.ask(gpuPools=pools)
    row = the(result, "quota", "t4")
    assert row.answer == the(result, "quota", "other").answer == "problem"
    assert (
        "needed at most 36 (24 for 2 nodes and 1 surge node with 8 vCPUs each, 12 for other"
        in row.what
    )
    # One of both would fit.
    assert place.ask(gpuPools=pools[:1]).exit_code == 0


def test_the_quota_of_the_region_is_checked(place: Place) -> None:
    # A system node of four cores and its surge, and the T4 pool.
    place.offer(**limits(cores=32))
    assert place.ask(gpuPools=[T4]).exit_code == 0
    place.offer(**limits(cores=31))
    result = place.ask(gpuPools=[T4])
    row = the(result, "quota of the region")
    assert row.answer == "problem"
    assert row.what.startswith("cores: limit 31, used 0, needed at most 32: enough for the most")
    assert the(result, "quota", "t4").answer == "ok"


def test_spot_pools_use_the_spot_quota_without_surge(place: Place) -> None:
    place.offer(**limits(lowPriorityCores=16, cores=8) | {})
    pool = T4 | {"spot": True}
    result = place.ask(gpuPools=[pool])
    assert result.exit_code == 0
    assert "lowPriorityCores: limit 16, used 0, needed at most 16" in (
        the(result, "quota", "t4").what
    )
    place.offer(**limits(lowPriorityCores=15))
    row = the(place.ask(gpuPools=[pool]), "quota", "t4")
    assert row.answer == "problem"
    assert "--resource-type lowPriority" in row.advice


def test_existing_nodes_of_the_stack_are_not_counted_twice(place: Place) -> None:
    group = place.group()
    pool = {"name": "t4", "vmSize": T4["vmSize"], "count": 2}
    stranger = {"name": "stranger", "vmSize": T4["vmSize"], "count": 1}
    identity = place.cluster(group, pool, stranger)
    keys: dict[str, Any] = {
        "location": ELSEWHERE,
        "resourceGroup": {"name": group},
        "cluster": {"name": "there"},
        "gpuPools": [T4],
    }
    own = frozenset(
        [
            identity.lower(),
            identity.partition("/providers/")[0].lower(),
            f"{identity}/agentPools/t4".lower(),
        ]
    )
    # Eight are the stranger's, sixteen ours already, and eight more take part in an upgrade.
    place.offer(**family(32))
    row = the(place.ask(lambda: own, **keys), "quota", "t4")
    assert row.answer == "ok"
    assert "used 24 (16 of it by this stack), needed at most 24" in row.what
    place.offer(**family(31))
    result = place.ask(lambda: own, **keys)
    assert result.verdict is Cause.QUOTA_TOO_SMALL
    assert "a limit of 32 or more" in the(result, "quota", "t4").advice


def test_a_quota_that_is_not_listed_is_unknown(place: Place) -> None:
    path = "/Microsoft.Compute/locations/eastus/usages"
    place.fault({"method": "GET", "path": path, "status": 200, "body": {"value": []}})
    result = place.ask(gpuPools=[T4])
    assert the(result, "quota", "t4").answer == "unknown"
    assert result.verdict is Cause.UNANSWERED


@pytest.mark.parametrize(
    ("most", "max_surge", "spot", "surge"),
    [
        (0, None, False, 0),
        (1, None, False, 1),
        (10, None, False, 1),
        (11, None, False, 2),
        (4, "33%", False, 2),
        (4, "3", False, 3),
        (100, None, True, 0),
    ],
)
def test_the_surge_of_a_pool_is_counted(
    most: int, max_surge: str | None, spot: bool, surge: int
) -> None:
    request = {
        "count": most,
        "scaleSetPriority": "Spot" if spot else None,
        "upgradeSettings": {"maxSurge": max_surge},
    }
    pool = PlannedPool("p", "p", {"vmSize": "s", **request})
    assert pool.surge == surge


def test_an_invalid_surge_is_reported_by_key(place: Place) -> None:
    with pytest.raises(SettingsError, match=r"gpuPools\[0\]\.maxSurge: 'a third' is neither"):
        place.ask(gpuPools=[T4 | {"maxSurge": "a third"}])


def test_quota_is_unknown_without_a_list_of_sizes() -> None:
    unanswered = Unanswered("it timed out", Cause.UNANSWERED)
    facts = facts_with(sizes=unanswered)

    rows = list(quota.judge(requirements.pools(stack_of(gpuPools=[T4])), facts))

    (row,) = [row for row in rows if row.pool == "t4"]
    assert row.answer == "unknown"
    assert "not offered" not in row.what


def test_a_rotation_needs_the_quota_of_both_pools(place: Place) -> None:
    """The present pool counted as what the new one needs, and the update ended halfway."""
    group = place.group()
    live = {"name": "t4abc", "vmSize": T4["vmSize"], "count": 2, "nodeLabels": {LABEL: "t4"}}
    place.cluster(group, live)
    rotating = T4 | {"replacement": "rotate"}

    def used(pool: dict[str, Any]) -> tuple[int, bool]:
        row = the(
            place.ask(
                location=ELSEWHERE,
                resourceGroup={"name": group},
                cluster={"name": "there"},
                gpuPools=[pool],
            ),
            "quota",
            "t4",
        )
        return row.figures["usedByThisStack"], "2 of the pool that it replaces" in row.what

    # What AKS changes in place, and what it chose itself, replaces nothing.
    assert used(rotating | {"labels": {"a": "b"}}) == (16, False)
    for change in ({"osDiskSizeGb": 256}, {"zones": ["1"]}, {"spot": True}, {"gpuStack": "none"}):
        assert used(rotating | change) == (0, True), change


LADDER = {"name": "training", "vmSize": "Standard_NC24ads_A100_v4", "maxCount": 4}
OF_A100 = "StandardNCADSA100v4Family"


def test_of_rungs_the_largest_counts(place: Place) -> None:
    """They stand in for each other. Four nodes with 24 vCPUs each, and one of a surge."""
    zonal = [{"name": f"zone{zone}", "zones": [zone]} for zone in "12"]
    capacity = {**LADDER, "rungs": [{"name": "regular"}, *zonal]}
    place.offer(**limits(**{OF_A100: 120}))
    result = place.ask(gpuCapacity=[capacity])
    assert the(result, "quota", "regular").answer == the(result, "quota", "zone2").answer == "ok"
    assert "needed at most 120 (120 for 4 nodes and 1 surge node" in (
        the(result, "quota", "regular").what
    )


def test_a_rung_without_quota_is_a_warning_if_it_may_start(place: Place) -> None:
    """AKS takes such a pool, and the autoscaler the next rung."""
    place.offer(**limits(**{OF_A100: 24}))
    for least, answer in ((0, "warning"), (1, "warning"), (2, "problem")):
        rung = {"name": "regular", "minCount": least, "count": least}
        rungs = [{"name": "spot", "spot": True}, rung]
        result = place.ask(gpuCapacity=[{**LADDER, "rungs": rungs}])
        row = the(result, "quota", "regular")
        assert (row.answer, row.key) == (answer, "gpuCapacity[0].rungs[1].maxCount")
        assert "a limit of 120 or more" in row.advice
        assert the(result, "quota", "spot").answer == "ok"
