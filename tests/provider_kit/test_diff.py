"""A diff names each difference by its path, and what of it replaces."""

from typing import Any

import pytest

from provider_kit.diff import diff
from provider_kit.values import UNKNOWN

OLD = {
    "vmSize": "Standard_NC6",
    "count": 1,
    "nodeLabels": {"a": "1", "kubernetes.azure.com/x": "y"},
    "nodeTaints": ["sku=gpu:NoSchedule"],
}
FEWER = {"count": 1, "nodeLabels": {"a": "2", "b": "1"}}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (OLD, {}),
        (OLD | {"count": UNKNOWN, "mode": "User"}, {"count": "UPDATE", "mode": "ADD"}),
        (OLD | {"vmSize": "Standard_NC12"}, {"vmSize": "UPDATE_REPLACE"}),
        (OLD | {"vmSize": UNKNOWN, "ignored": 1}, {"vmSize": "UPDATE_REPLACE"}),
        (
            FEWER,
            {
                "nodeLabels.a": "UPDATE",
                "nodeLabels.b": "ADD",
                'nodeLabels["kubernetes.azure.com/x"]': "DELETE",
                "nodeTaints": "DELETE",
                "vmSize": "DELETE_REPLACE",
            },
        ),
    ],
)
def test_diff_names_each_difference(new: dict[str, Any], expected: dict[str, str]) -> None:
    answer = diff(OLD, new, replaces={"vmSize"}, ignored=["ignored"])

    assert {path: change.kind.name for path, change in answer.detailed_diff.items()} == expected
    assert answer.changes is bool(expected)
    assert answer.replaces == (["vmSize"] if "vmSize" in expected else [])
    assert answer.delete_before_replace
