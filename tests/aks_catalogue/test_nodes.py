"""What AKS asks of a pool."""

import pytest

from aks_catalogue.nodes import surge_nodes


@pytest.mark.parametrize(
    ("max_surge", "max_unavailable", "count", "expected"),
    [
        ("10%", None, 3, 1),
        ("50%", "0", 3, 2),
        ("2", None, 5, 2),
        ("0", None, 5, 0),
        ("0%", "1", 5, 0),
        (None, None, 11, 2),
        (None, "0%", 11, 2),
        (None, "1", 11, 0),
        ("50%", None, 0, 0),
        ("a third", None, 4, None),
        ("9" * 5000, None, 4, None),
        ("\u0663", None, 4, None),
    ],
)
def test_surge_nodes_are_computed_from_max_surge(
    max_surge: str | None, max_unavailable: str | None, count: int, expected: int | None
) -> None:
    assert surge_nodes(count, max_surge, max_unavailable, is_spot=False) == expected


def test_a_spot_pool_has_no_surge() -> None:
    assert surge_nodes(100, "50%", is_spot=True) == 0
