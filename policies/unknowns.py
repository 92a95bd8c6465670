"""Values that are not known before an update."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pulumi_policy.proxy import UnknownValueError

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


class Unknowns:
    """Defers what an unknown value raises, so that it hides nothing of what is known."""

    def __init__(self) -> None:
        self._first: UnknownValueError | None = None

    @contextmanager
    def deferred(self, *, again: bool = False) -> Iterator[None]:
        """Notes an unknown value; with `again` it is raised all the same, for others to note."""
        try:
            yield
        except UnknownValueError as error:
            self._first = self._first or error
            if again:
                raise

    def each(
        self, items: Iterable[_Item], judge: Callable[[_Item], Iterable[_Found]]
    ) -> Iterator[_Found]:
        """What is found in each item; an unknown value hides only what is found in its own item."""
        with self.deferred():
            for item in items:
                with self.deferred():
                    yield from judge(item)

    @property
    def met(self) -> bool:
        """True if any value was unknown: then absence proves nothing."""
        return self._first is not None

    def raise_now(self) -> None:
        """The engine then reports that the rule could not run, and on account of which value."""
        if self._first:
            raise self._first
