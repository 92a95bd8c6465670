"""A rule that reads what no table lists fails its tests; in a pack it would judge in silence."""

from typing import Any

import pytest

from aks_pools.vocabulary import CLASSIC_CLUSTER, CLASSIC_POOL, Renamed
from policies import reading

# What the classic provider calls as azure-native does, or does not have.
_SAME_NAMES = {
    "gpuInstance", "kubernetesClusterId", "maxCount", "minCount", "mode", "name",
    "nodeInitializationTaints", "nodeLabels", "nodeTaints", "onlyCriticalAddonsEnabled",
    "orchestratorVersion", "osType", "tags", "upgradeSettings", "vmSize",
}  # fmt: skip


@pytest.fixture(autouse=True)
def only_listed_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    """A property without a shape was read as it was written, so a wrong type passed."""
    shape_of = reading.Shape.of

    def of(shape: reading.Shape, key: str | int) -> reading.Shape:
        is_listed = not shape.parts or shape.items or key in shape.parts
        if not is_listed:
            # No rule can catch this one.
            pytest.fail(f"policies/shapes.py does not list {key}")
        return shape_of(shape, key)

    monkeypatch.setattr(reading.Shape, "of", of)


@pytest.fixture(autouse=True)
def only_names_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that read osSKU never saw the classic provider's osSku, and its tests passed."""
    get = Renamed.__getitem__

    def getitem(pool: Renamed, name: str) -> Any:
        vocabulary = pool._vocabulary
        if vocabulary in (CLASSIC_POOL, CLASSIC_CLUSTER):
            known = {*vocabulary.names, *vocabulary.flat, *vocabulary.fixed, *_SAME_NAMES}
            if name not in known:
                pytest.fail(f"aks_pools/vocabulary.py does not say what {name} is called")
        return get(pool, name)

    monkeypatch.setattr(Renamed, "__getitem__", getitem)
