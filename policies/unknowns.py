"""Collects what a rule could not judge, so that it can judge the rest."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pulumi_policy.proxy import UnknownValueError

from aks_pools.values import OddValueError
from policies.reading import CannotReadError

# The message for a bug in the rule.
FAILED = "the rule itself failed"

_Item = TypeVar("_Item")
_Finding = TypeVar("_Finding")


class Unknowns:
    """Defers the errors of values that are unknown, or cannot be what their property is.

    Also defers errors from bugs in the rule: an exception that reaches the SDK ends the pack.
    """

    def __init__(self) -> None:
        # By reason, the URN of the resource, if the engine does not know it.
        self._reasons: dict[str, str] = {}

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Notes an error."""
        try:
            yield
        except UnknownValueError as error:
            self.note(error)
        except OddValueError as error:
            self._reasons[str(error)] = ""
        except Exception as error:
            # Without the error's text, which can contain a secret value.
            *_, place = traceback.extract_tb(error.__traceback__)
            where = f"{Path(place.filename).name}:{place.lineno}"
            self._reasons[f"{FAILED}: {type(error).__name__} in {where}"] = ""

    def note(self, error: UnknownValueError) -> None:
        self._reasons[error.message] = getattr(error, "urn", "")

    def each(
        self, items: Iterable[_Item], judge: Callable[[_Item], Iterable[_Finding]]
    ) -> Iterator[_Finding]:
        """Yields the findings of all items. An unreadable value hides only findings of its item."""
        with self.deferred():
            for item in items:
                with self.deferred():
                    yield from judge(item)

    def take(self, others: "Unknowns") -> None:
        """Notes what others have noted."""
        self._reasons.update(others._reasons)

    @property
    def met(self) -> bool:
        """True if anything could not be read: then absence proves nothing."""
        return bool(self._reasons)

    def raise_now(self, excepts: Callable[[str], bool]) -> None:
        """Raises what was noted. The engine reports that the rule could not run, and why."""
        if reasons := [reason for reason, urn in self._reasons.items() if not excepts(urn)]:
            raise CannotReadError("; ".join(reasons))
