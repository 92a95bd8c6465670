from typing import Any

import pytest
from pulumi.provider.experimental.provider import PropertyDiffKind

from provider_kit.diff import diff
from provider_kit.values import UNKNOWN

OLD = {
    "vmSize": "Standard_NC6",
    "count": 1,
    "nodeLabels": {"a": "1", "kubernetes.azure.com/x": "y"},
    "nodeTaints": ["sku=gpu:NoSchedule"],
}
REPLACES = {"vmSize"}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (OLD, {}),
        (OLD | {"count": 2}, {"count": "UPDATE"}),
        (OLD | {"count": UNKNOWN}, {"count": "UPDATE"}),
        (OLD | {"vmSize": "Standard_NC12"}, {"vmSize": "UPDATE_REPLACE"}),
        (OLD | {"vmSize": UNKNOWN}, {"vmSize": "UPDATE_REPLACE"}),
        ({k: v for k, v in OLD.items() if k != "vmSize"}, {"vmSize": "DELETE_REPLACE"}),
        (OLD | {"mode": "User"}, {"mode": "ADD"}),
        ({k: v for k, v in OLD.items() if k != "nodeTaints"}, {"nodeTaints": "DELETE"}),
        (
            OLD | {"nodeLabels": {"a": "2", "b": "1"}},
            {
                "nodeLabels.a": "UPDATE",
                "nodeLabels.b": "ADD",
                'nodeLabels["kubernetes.azure.com/x"]': "DELETE",
            },
        ),
    ],
)
def test_diff_names_each_difference(new: dict[str, Any], expected: dict[str, str]) -> None:
    answer = diff(OLD, new, replaces=REPLACES)

    assert {path: change.kind.name for path, change in answer.detailed_diff.items()} == expected
    assert answer.changes is bool(expected)
    replaced = any("REPLACE" in kind for kind in expected.values())
    assert answer.replaces == (["vmSize"] if replaced else [])
    assert answer.delete_before_replace


def test_ignored_properties_are_no_difference() -> None:
    answer = diff(OLD, OLD | {"count": 9, "mode": "User"}, replaces=(), ignored=["count"])

    assert answer.diffs == ["mode"]
    assert answer.detailed_diff["mode"].kind is PropertyDiffKind.ADD
