"""What may happen though it stands against a change, as `replace:dev/train`: what, and where.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

import re
from typing import NamedTuple, Self

# What may become of a pool. How a stack is judged is no pool's.
OF_POOLS = ("replace", "delete", "resize", "forget")
JUDGING = "policies"
FORM = f"{'|'.join(OF_POOLS)}:STACK/POOL, or {JUDGING}:STACK"

_FORM = re.compile(rf"(?P<kind>{'|'.join(OF_POOLS)}):(?P<stack>[^/@]+)/(?P<pool>.+)")
_FORM_OF_JUDGING = re.compile(rf"(?P<kind>{JUDGING}):(?P<stack>[^/@]+)")
# A label is for one commit: a later one may do something else.
_LABEL = re.compile(r"(?P<allowance>.+)@(?P<commit>[0-9a-fA-F]{7,40})")


class Allowance(NamedTuple):
    """A stack has its own name, without an organisation; a pool has its name, or its resource's."""

    kind: str
    stack: str
    pool: str = ""

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises ValueError for what is none."""
        found = _FORM.fullmatch(text) or _FORM_OF_JUDGING.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no allowance; one is {FORM}")
        return cls(**found.groupdict())

    def __str__(self) -> str:
        return f"{self.kind}:{self.stack}/{self.pool}" if self.pool else f"{self.kind}:{self.stack}"


def of_label(label: str, commit: str) -> Allowance | None:
    """What a label such as `replace:dev/train@1a2b3c4` allows; None for a label of another kind.

    Raises ValueError where it allows nothing here: it was given for another commit, or for none.
    """
    if not label.lower().startswith(tuple(f"{kind}:" for kind in (*OF_POOLS, JUDGING))):
        return None
    found = _LABEL.fullmatch(label)
    allowance = Allowance.read(found["allowance"] if found else label)
    if found is None:
        raise ValueError(f"the label {label!r} names no commit: make it {allowance}@{commit[:7]}")
    if not commit.startswith(found["commit"].lower()):
        raise ValueError(
            f"the label {label!r} was given for another commit: if it still holds, make it "
            f"{allowance}@{commit[:7]}"
        )
    return allowance
