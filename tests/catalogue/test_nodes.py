"""What AKS asks of a pool."""

import pytest

from catalogue.nodes import surge_nodes


@pytest.mark.parametrize(
    ("max_surge", "count", "expected"),
    [
        ("10%", 3, 1),
        ("50%", 3, 2),
        ("2", 5, 2),
        ("0", 5, 0),
        ("0%", 5, 1),
        (None, 11, 2),
        ("50%", 0, 0),
        ("a third", 4, None),
    ],
)
def test_how_many_surge(max_surge: str | None, count: int, expected: int | None) -> None:
    assert surge_nodes(count, max_surge, is_spot=False) == expected


def test_a_spot_pool_has_no_surge() -> None:
    assert surge_nodes(100, "50%", is_spot=True) == 0
