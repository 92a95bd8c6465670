"""Quantities as Kubernetes writes them: 500m, 2Gi, 1e3."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from types import MappingProxyType

_QUANTITY = re.compile(
    r"(?P<number>[+-]?([0-9]+\.?[0-9]*|\.[0-9]+))"
    r"((?P<unit>[numkMGTPE]|[KMGTPE]i)|(?P<exponent>[eE][+-]?[0-9]+))?"
)
_UNITS: Mapping[str, Decimal] = MappingProxyType(
    {unit: Decimal(f"1e{3 * power}") for power, unit in enumerate("num", -3)}
    | {"": Decimal(1)}
    | {unit: Decimal(1000**power) for power, unit in enumerate("kMGTPE", 1)}
    | {f"{unit}i": Decimal(1024**power) for power, unit in enumerate("KMGTPE", 1)}
)
# Enough digits for every product of a number and a unit to be exact.
_EXACT = Context(prec=200)


@dataclass(frozen=True)
class Quantity:
    amount: Decimal
    # "decimal", "binary" or "exponent": Kubernetes writes a quantity in the notation it got.
    notation: str


def parse(text: str) -> Quantity:
    """Raises ValueError for what is no quantity."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no quantity")
    if found["exponent"]:
        return Quantity(Decimal(text), "exponent")
    unit = found["unit"] or ""
    amount = _EXACT.multiply(Decimal(found["number"]), _UNITS[unit])
    return Quantity(amount, "binary" if unit.endswith("i") else "decimal")
