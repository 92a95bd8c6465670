"""When two ways to say something mean the same to Kubernetes, which writes it in its own way."""

import base64
import binascii
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from catalogue import quantities

# Names in whose reach values are quantities, as `1000m` for `1`.
_OF_QUANTITIES = frozenset({"capacity", "hard", "limits", "requests", "sizeLimit"})

# Lists that the server lengthens by itself, where nobody has changed anything.
_LENGTHENED = frozenset({"tolerations"})


def drifted(said: Any, live: Any, within: str = "") -> Any:
    """What is there of what was said, in the words it was said in where it means the same.

    What was left out is the server's affair.
    """
    if isinstance(said, Mapping) and isinstance(live, Mapping):
        return {
            key: drifted(value, live[key], _reach(within, key))
            for key, value in said.items()
            if key in live
        }
    if _are_named(said) and _are_named(live):
        there = {item["name"]: item for item in live}
        return [
            drifted(item, there[item["name"]], within) for item in said if item["name"] in there
        ]
    if isinstance(said, list) and isinstance(live, list):
        both = [drifted(a, b, within) for a, b in zip(said, live, strict=False)]
        return both if within in _LENGTHENED else both + live[len(said) :]
    return said if _is_same(said, live, within) else live


def secret_drifted(said: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a Secret, whose `stringData` becomes part of its `data`."""
    result: dict[str, Any] = drifted(said, live)
    texts = said.get("stringData")
    if isinstance(texts, Mapping):
        data = live.get("data") or {}
        result["stringData"] = {key: _text(data[key]) for key in texts if key in data}
    return result


def in_the_words_of(old: Any, new: Any, within: str = "") -> Any:
    """The new inputs, in the words of the old ones where they mean the same."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {
            key: in_the_words_of(old[key], value, _reach(within, key)) if key in old else value
            for key, value in new.items()
        }
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [in_the_words_of(a, b, within) for a, b in zip(old, new, strict=True)]
    return old if _is_same(old, new, within) else new


def _reach(within: str, key: str) -> str:
    return within if within in _OF_QUANTITIES else key


def _is_same(one: Any, other: Any, within: str) -> bool:
    if type(one) is type(other) and one == other:
        return True
    if within not in _OF_QUANTITIES:
        return False
    quantity = _quantity(one)
    return quantity is not None and quantity == _quantity(other)


def _quantity(value: Any) -> tuple[Decimal, str] | None:
    """The amount, and the notation in which Kubernetes writes it: it keeps to the one it got."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = quantities.parse(str(value))
    except ValueError:
        return None
    is_small = found.notation == "binary" and abs(found.amount) < 1024
    return found.amount, "decimal" if is_small else found.notation


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode()
    except (binascii.Error, UnicodeDecodeError):
        return encoded


def _are_named(items: Any) -> bool:
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items
    )
