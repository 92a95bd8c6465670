"""What exists already is taken over if the user says so, and by no other way."""

import asyncio
import json
from typing import Any

import pytest

from tests.aks_preview.odd.azure import POOL, OddAzure, serving
from tests.aks_preview.odd.driver import driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

SCALED = {"enableAutoScaling": True, "minCount": 1, "maxCount": 9}
# How a user may name the pool, and what names another one or none.
NAMING = (f"{POOL}/", f'"{POOL}"', f"' {POOL} ' ,", f"\n{POOL}\n", f"/another, {POOL.upper()}")
NOT_NAMING = ("", POOL[:-1], f"{POOL}2", POOL.rpartition("/")[2], f"{POOL}/a,/b{POOL}")


async def created(azure: OddAzure, **configuration: Any) -> Any:
    azure.put(POOL, {"properties": {**SCALED, "count": 9}})
    async with serving(azure), driving(azure, **configuration) as provider:
        return await provider.create({**POOL_INPUTS, **SCALED, "customHeaders": {"A": "b"}})


@pytest.mark.parametrize("written", NAMING)
def test_a_pasted_id_with_quotes_or_slashes_is_accepted(written: str) -> None:
    """A slash at the end, or quotes, and nothing was taken over, without a word of why."""
    assert asyncio.run(created(OddAzure(), takeOver=written)).id == POOL


def test_a_pool_that_its_autoscaler_has_scaled_keeps_its_nodes() -> None:
    azure = OddAzure()

    outcome = asyncio.run(created(azure, takeOver=f"/another, {POOL.upper()}"))

    assert (outcome.id, outcome.error) == (POOL, "")
    assert outcome.outputs["customHeaders"] == {"A": "b"}
    (put,) = [made for made in azure.requests if made.phase == "put"]
    assert json.loads(put.body)["properties"]["count"] == 9
    assert put.headers["A"] == "b"


@pytest.mark.parametrize("taken_over", NOT_NAMING)
def test_a_resource_that_take_over_does_not_name_is_refused(taken_over: str) -> None:
    azure = OddAzure()

    outcome = asyncio.run(created(azure, takeOver=taken_over))

    assert f"`AKS_PREVIEW_TAKE_OVER={POOL} pulumi up`" in outcome.error
    assert "put" not in azure.phases()
