"""The report as JSON, for programs: all facts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from fractions import Fraction
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from aksgpu import report
from aksgpu.allowances import Allowance
from aksgpu.outcome import Cause
from aksgpu.preflight.preflight import Preflight
from aksgpu.review.model import Review

# Raise it when a key changes its meaning or is removed.
_VERSION = 1


def as_json(review: Review) -> str:
    head = {"version": _VERSION, **review.verdict.document()}
    return report.as_json(head | _as_data(review))


def _number(value: Fraction) -> float:
    return int(value) if value.denominator == 1 else float(value)


_FORMS: Mapping[type, Callable[[Any], Any]] = MappingProxyType(
    {
        Allowance: str,
        Cause: attrgetter("word"),
        Fraction: _number,
        Preflight: Preflight.to_json,
        date: date.isoformat,
    }
)


def _as_data(value: Any) -> Any:
    """A fact in the types of JSON. Other classes become their fields and properties."""
    if form := _FORMS.get(type(value)):
        return form(value)
    if isinstance(value, Mapping):
        return {key: _as_data(member) for key, member in sorted(value.items())}
    if names := list(_names(value)):
        return {_camel_case(name): _as_data(getattr(value, name)) for name in names}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_as_data(item) for item in value]
    return value


def _names(value: Any) -> Iterator[str]:
    if is_dataclass(value):
        yield from (field.name for field in fields(value))
    elif isinstance(value, tuple):
        yield from getattr(value, "_fields", ())
    yield from (name for name, member in vars(type(value)).items() if isinstance(member, property))


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
