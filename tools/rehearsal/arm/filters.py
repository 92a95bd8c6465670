"""The query options of lists: `$top`, and the part of `$filter` that the rehearsal supports."""

import re
from collections.abc import Collection, Iterable
from itertools import islice

from aks_catalogue.regions import plain
from rehearsal.arm import errors
from rehearsal.arm.request import NUMBER, Json, Request

_CONDITION = re.compile(r"\s*(\w+)\s+eq\s+'((?:[^']|'')*)'\s*(and\s|$)", re.IGNORECASE)


def conditions(request: Request, names: Collection[str]) -> dict[str, str]:
    """Returns the required values of a `$filter` by name; refuses all operators but `eq`."""
    text = request.http.query.get("$filter") or ""
    known = {name.lower(): name for name in names}
    values: dict[str, str] = {}
    position = 0
    while position < len(text):
        condition = _CONDITION.match(text, position)
        if condition is None or condition[1].lower() not in known:
            raise errors.ArmError(errors.NOT_REHEARSED, what=f"the filter {text!r}")
        values[known[condition[1].lower()]] = condition[2].replace("''", "'")
        position = condition.end()
    return values


def top(request: Request, items: Iterable[Json]) -> list[Json]:
    """Returns the first `$top` items."""
    number = request.http.query.get("$top")
    if number is not None and not NUMBER.fullmatch(number):
        raise errors.ArmError(errors.BAD_PARAMETER, "$top", name="$top", value=number)
    return list(islice(items, None if number is None else int(number)))


def meets(item: Json, required: dict[str, str]) -> bool:
    """Returns whether a group or a resource matches a filter."""
    tags = {name.lower(): value for name, value in (item.get("tags") or {}).items()}
    facts = {
        "name": item["name"],
        "location": item["location"],
        "resourceType": item["type"],
        "resourceGroup": item["id"].split("/")[4],
    }
    if not all(plain(facts[name]) == plain(required[name]) for name in facts if name in required):
        return False
    values = (
        [tags[required["tagName"].lower()]] if required.get("tagName", "").lower() in tags else []
    )
    if "tagName" not in required:
        values = list(tags.values())
    if "tagValue" in required:
        return required["tagValue"] in values
    return bool(values) or "tagName" not in required
