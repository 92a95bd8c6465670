"""Lists that come in pages."""

from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import urlencode

from rehearsal.arm import errors
from rehearsal.arm.call import Answer, Call, Json

# Azure calls the place to go on from a token, and lets nobody read it; here it is a number.
TOKEN = "$skiptoken"  # noqa: S105 (no secret)

Item = TypeVar("Item")


def paged(call: Call, items: Sequence[Item], show: Callable[[Item], Json]) -> Answer:
    """The page of a list that the request asks for, with the address of the next one."""
    start, size = _start(call), call.offers.script.page_size
    body: Json = {"value": [show(item) for item in items[start : start + size]]}
    if start + size < len(items):
        query = {**call.query, TOKEN: str(start + size)}
        body["nextLink"] = f"{call.origin}{call.path}?{urlencode(query)}"
    return Answer(200, body)


def _start(call: Call) -> int:
    token = call.query.get(TOKEN, "0")
    if not token.isdecimal():
        raise errors.ArmError(errors.BAD_PARAMETER, TOKEN, name=TOKEN, value=token)
    return int(token)
