"""The conditions a client may set on a write with an etag."""

from rehearsal.arm import errors
from rehearsal.arm.call import Call
from rehearsal.arm.state import Resource


def check_etag(call: Call, present: Resource | None) -> None:
    """Refuses a write whose If-Match or If-None-Match does not hold."""
    etag = present.etag if present else None
    for header, is_match_wanted in (("If-Match", True), ("If-None-Match", False)):
        value = call.headers.get(header)
        if value is None:
            continue
        is_match = etag is not None and value.strip('"') in (etag, "*")
        if is_match != is_match_wanted:
            raise errors.ArmError(errors.CHANGED_SINCE, header=header, value=value, etag=etag)
