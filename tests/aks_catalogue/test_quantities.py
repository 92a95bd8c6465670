"""Amounts of resources, against Kubernetes' own library for Python."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from aks_catalogue.quantities import parse

_UNITS = ["", *"numkMGTPE", *(f"{unit}i" for unit in "KMGTPE")]


@pytest.mark.parametrize(
    ("text", "amount", "notation"),
    [
        ("1", "1", "decimal"),
        ("250m", "0.25", "decimal"),
        ("1.5", "1.5", "decimal"),
        (".5", "0.5", "decimal"),
        ("2Ki", "2048", "binary"),
        ("1M", "1000000", "decimal"),
        ("1Pi", "1125899906842624", "binary"),
        ("1E", "1000000000000000000", "decimal"),
        ("100n", "0.0000001", "decimal"),
        ("1e3", "1000", "exponent"),
        ("1E-3", "0.001", "exponent"),
        ("-2", "-2", "decimal"),
        ("+2k", "2000", "decimal"),
    ],
)
def test_a_quantity_is_parsed(text: str, amount: str, notation: str) -> None:
    quantity = parse(text)
    assert (quantity.amount, quantity.notation) == (Decimal(amount), notation)


@pytest.mark.parametrize(
    "text",
    [
        "lots",
        "",
        ".",
        "1 k",
        "1K",
        "1ki",
        "1mi",
        "1e",
        "1e3k",
        "nan",
        "Infinity",
        "1_0",
        "٣",
        f"1e{'9' * 19}",
    ],
)
def test_a_text_that_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse(text)


@given(
    number=st.decimals(min_value=-(10**15), max_value=10**15, places=3),
    unit=st.sampled_from(_UNITS),
)
def test_a_number_with_a_unit_equals_the_librarys_result(number: Decimal, unit: str) -> None:
    text = f"{number:f}{unit}"
    assert float(parse(text).amount) == pytest.approx(float(parse_quantity(text)))


@given(number=st.integers(-(10**6), 10**6), power=st.integers(-9, 9), sign=st.sampled_from("eE"))
def test_an_exponent_equals_the_librarys_result(number: int, power: int, sign: str) -> None:
    text = f"{number}{sign}{power}"
    assert parse(text).amount == parse_quantity(text)
