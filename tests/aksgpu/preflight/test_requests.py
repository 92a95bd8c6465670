"""What is sent: how often, to whom, and with what."""

from itertools import cycle, islice
from typing import Any

from tests.aksgpu.preflight.conftest import Place, the

SIZES = (
    "Standard_NC8as_T4_v3",
    "Standard_NC16as_T4_v3",
    "Standard_NC24ads_A100_v4",
    "Standard_NC48ads_A100_v4",
    "Standard_NC40ads_H100_v5",
    "Standard_NV36ads_A10_v5",
)


def pools(number: int) -> list[dict[str, Any]]:
    sizes = islice(cycle(SIZES), number)
    return [
        {"name": f"pool{place}", "vmSize": size, "spot": place % 2 == 0}
        for place, size in enumerate(sizes)
    ]


def test_fifty_pools_need_as_many_requests_as_six(place: Place) -> None:
    few = place.asked(lambda: place.ask(gpuPools=pools(6)))
    many = place.asked(lambda: place.ask(gpuPools=pools(50)))
    paths = [sorted(line["path"] for line in lines) for lines in (few, many)]
    assert paths[0] == paths[1]
    assert len(many) < 20
    # Each fact is asked for once; what comes again comes in pages.
    paged = ("/skus",)
    once = [path for path in paths[1] if not path.endswith(paged)]
    assert len(once) == len(set(once))


def test_fifty_pools_are_all_answered(place: Place) -> None:
    place.offer(sizes=[{"size": SIZES[1], "is": "absent"}])
    result = place.ask(gpuPools=pools(50))
    about = [row for row in result.rows if row.question == "size" and row.pool != "system"]
    assert len(about) == 50
    assert {row.pool for row in about if row.answer == "problem"} == {
        pool["name"] for pool in pools(50) if pool["vmSize"] == SIZES[1]
    }


def test_a_new_registry_needs_its_provider(place: Place) -> None:
    """Without it the registry failed, after the cluster and its pools were made."""
    path = "/Microsoft.ContainerRegistry"
    asked = place.asked(lambda: place.ask(registry={"name": "images1"}))
    assert [line for line in asked if line["path"].endswith(path)]
    asked = place.asked(place.ask)
    assert not [line for line in asked if line["path"].endswith(path)]


def test_all_pages_of_a_list_are_read(place: Place) -> None:
    place.offer(pageSize=25, limits=[{"name": "cores", "limit": 1}])
    answers: list[Any] = []
    lines = place.asked(lambda: answers.append(place.ask(gpuPools=pools(6))))
    (result,) = answers
    for part in ("/skus", "/api/retail/prices"):
        assert len([line for line in lines if line["path"].endswith(part)]) > 1
    # The whole is known: what was on the first pages, and what was on the last.
    assert {row.answer for row in result.rows if row.question == "size"} == {"ok"}
    assert the(result, "quota", "pool0").answer == "ok"
    assert the(result, "quota of the region").answer == "problem"
    assert result.costs.unpriced == []


def test_preflight_only_reads(place: Place) -> None:
    """Azure takes the question about scores, which changes nothing, as a POST."""
    lines = place.asked(lambda: place.ask(gpuPools=pools(2)))
    others = [line for line in lines if line["method"] != "GET"]
    assert {line["path"].rpartition("/")[2] for line in others} == {"token", "generate"}


def test_the_price_list_gets_no_token(place: Place) -> None:
    lines = place.asked(lambda: place.ask(gpuPools=pools(2)))
    (prices,) = [line for line in lines if "retail" in line["path"]]
    assert prices["withheld"] == []
    # Azure itself gets one, so that the log would tell.
    skus = [line for line in lines if line["path"].endswith("/skus")]
    assert {tuple(line["withheld"]) for line in skus} == {("authorization",)}


def test_the_price_query_is_split_to_the_accepted_length(place: Place) -> None:
    place.offer(pageSize=1000)
    gpus = [f"Standard_NC{cores}as_T4_v3" for cores in (4, 8, 16, 64)]
    gpus += [f"Standard_NC{cores}ads_A100_v4" for cores in (24, 48, 96)]
    gpus += [f"Standard_NV{cores}ads_A10_v5" for cores in (6, 12, 18, 36, 72)]
    gpus += ["Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5", "Standard_ND96asr_v4"]
    gpus += ["Standard_ND96amsr_A100_v4", "Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5"]
    many = [{"name": f"p{place}", "vmSize": size} for place, size in enumerate(gpus)]
    answers: list[Any] = []
    lines = place.asked(lambda: answers.append(place.ask(gpuPools=many)))
    assert len([line for line in lines if "retail" in line["path"]]) == 2
    assert answers[0].costs.unpriced == []
