"""Allowances for changes that a review otherwise refuses, such as `replace:dev/train`.

Only the standard library: `aksgpu.ci` runs without an installation.
"""

import re
from typing import NamedTuple, Self

# What can happen to a pool; the allowance for policy configuration names no pool.
OF_POOLS = ("replace", "delete", "resize", "forget")
JUDGING = "policies"
FORM = f"{'|'.join(OF_POOLS)}:STACK/POOL, or {JUDGING}:STACK"

_FORM = re.compile(rf"(?P<kind>{'|'.join(OF_POOLS)}):(?P<stack>[^/@]+)/(?P<pool>.+)")
_FORM_OF_JUDGING = re.compile(rf"(?P<kind>{JUDGING}):(?P<stack>[^/@]+)")
# A label is for one commit, as a later one may change something else.
_LABEL = re.compile(r"(?P<allowance>.+)@(?P<commit>[0-9a-fA-F]{7,40})")


class Allowance(NamedTuple):
    """`stack` is the name without the organization; `pool` is the pool's or the resource's name."""

    kind: str
    stack: str
    pool: str = ""

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises ValueError if the text is not an allowance."""
        match = _FORM.fullmatch(text) or _FORM_OF_JUDGING.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not an allowance; write {FORM}")
        return cls(**match.groupdict())

    def __str__(self) -> str:
        return f"{self.kind}:{self.stack}/{self.pool}" if self.pool else f"{self.kind}:{self.stack}"


def of_label(label: str, commit: str) -> Allowance | None:
    """The allowance in a label such as `replace:dev/train@1a2b3c4`; None for other labels.

    Raises ValueError if the label is for another commit, or for none.
    """
    if not label.lower().startswith(tuple(f"{kind}:" for kind in (*OF_POOLS, JUDGING))):
        return None
    match = _LABEL.fullmatch(label)
    allowance = Allowance.read(match["allowance"] if match else label)
    if match is None:
        raise ValueError(f"the label {label!r} names no commit: use {allowance}@{commit[:7]}")
    if not commit.startswith(match["commit"].lower()):
        raise ValueError(
            f"the label {label!r} was given for another commit: if it still applies, replace it by "
            f"{allowance}@{commit[:7]}"
        )
    return allowance
