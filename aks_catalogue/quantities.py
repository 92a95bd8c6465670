"""Kubernetes quantities, such as 500m, 2Gi and 1e3."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from types import MappingProxyType

_QUANTITY = re.compile(
    r"(?P<number>[+-]?([0-9]+\.?[0-9]*|\.[0-9]+))"
    r"((?P<unit>[numkMGTPE]|[KMGTPE]i)|(?P<exponent>[eE][+-]?[0-9]{1,9}))?"
)
_UNITS: Mapping[str, Decimal] = MappingProxyType(
    {unit: Decimal(f"1e{3 * power}") for power, unit in enumerate("num", -3)}
    | {"": Decimal(1)}
    | {unit: Decimal(1000**power) for power, unit in enumerate("kMGTPE", 1)}
    | {f"{unit}i": Decimal(1024**power) for power, unit in enumerate("KMGTPE", 1)}
)
# Enough digits to multiply any number by a unit exactly.
_EXACT = Context(prec=200)


@dataclass(frozen=True)
class Quantity:
    amount: Decimal
    # "decimal", "binary" or "exponent": Kubernetes keeps the notation of its input.
    notation: str


def parse(text: str) -> Quantity:
    """Returns a quantity. Raises ValueError if the text is not one."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    if match["exponent"]:
        return Quantity(Decimal(text), "exponent")
    unit = match["unit"] or ""
    amount = _EXACT.multiply(Decimal(match["number"]), _UNITS[unit])
    return Quantity(amount, "binary" if unit.endswith("i") else "decimal")
