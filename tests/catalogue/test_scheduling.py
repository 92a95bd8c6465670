"""What a node affinity asks of a label, operator by operator."""

import pytest

from catalogue.scheduling import LABEL_TESTS


@pytest.mark.parametrize(
    ("operator", "value", "wanted", "is_met"),
    [
        ("In", "a", ["a", "b"], True),
        ("In", "c", ["a", "b"], False),
        ("In", None, ["a"], False),
        ("NotIn", "c", ["a"], True),
        ("NotIn", "a", ["a"], False),
        # A node without the label is none of those.
        ("NotIn", None, ["a"], True),
        ("Exists", "", [], True),
        ("Exists", None, [], False),
        ("DoesNotExist", None, [], True),
        ("DoesNotExist", "", [], False),
        ("Gt", "10", ["9"], True),
        ("Gt", "9", ["9"], False),
        ("Lt", "-1", ["0"], True),
        ("Lt", "0", ["0"], False),
        ("Gt", "many", ["1"], False),
        ("Lt", "many", ["1"], False),
        ("Gt", None, ["0"], False),
        ("Lt", "1", [], False),
    ],
)
def test_a_label_is_what_is_asked_for(
    operator: str, value: str | None, wanted: list[str], is_met: bool
) -> None:
    assert LABEL_TESTS[operator](value, wanted) is is_met
