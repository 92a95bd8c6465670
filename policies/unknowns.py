"""What a rule could not judge: it hides nothing of what can be judged."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pulumi_policy.proxy import UnknownValueError

from policies.reading import CannotReadError

# How a rule says that it is at fault itself.
FAILED = "the rule itself failed"

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


class Unknowns:
    """Defers what is raised by values that are unknown, or are not what they have to be.

    Also what a mistake of the rule itself raises: an exception that reaches the SDK ends the pack.
    """

    def __init__(self) -> None:
        # With the resource that it is of, where that is not told otherwise.
        self._why: dict[str, str] = {}

    @contextmanager
    def deferred(self, *, again: bool = False) -> Iterator[None]:
        """Notes what is raised; with `again` it is raised all the same, for others to note."""
        try:
            yield
        except UnknownValueError as error:
            self.note(error.message, getattr(error, "urn", ""))
            if again:
                raise
        except Exception as error:
            # Not its text: that can have a value in it, and so a secret.
            *_, place = traceback.extract_tb(error.__traceback__)
            where = f"{Path(place.filename).name}:{place.lineno}"
            self.note(f"{FAILED}: {type(error).__name__} in {where}")
            if again:
                raise

    def note(self, why: str, urn: str = "") -> None:
        """Notes something that is not judged, and why."""
        self._why[why] = urn

    def each(
        self, items: Iterable[_Item], judge: Callable[[_Item], Iterable[_Found]]
    ) -> Iterator[_Found]:
        """What is found in each item; what cannot be read hides only what is in its own item."""
        with self.deferred():
            for item in items:
                with self.deferred():
                    yield from judge(item)

    @property
    def met(self) -> bool:
        """True if anything could not be read: then absence proves nothing."""
        return bool(self._why)

    def raise_now(self, passes: Callable[[str], bool]) -> None:
        """The engine then reports that the rule could not run, and on account of which values."""
        if told := [why for why, urn in self._why.items() if not passes(urn)]:
            raise CannotReadError("; ".join(told))
