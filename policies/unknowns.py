"""Values that are not known before an update."""

from collections.abc import Iterator
from contextlib import contextmanager

from pulumi_policy.proxy import UnknownValueError


class Unknowns:
    """Puts off what an unknown value raises, so that it hides nothing of what is known."""

    def __init__(self) -> None:
        self._first: UnknownValueError | None = None

    @contextmanager
    def put_off(self, *, again: bool = False) -> Iterator[None]:
        """Notes an unknown value, and with `again` leaves it to who else notes it."""
        try:
            yield
        except UnknownValueError as error:
            self._first = self._first or error
            if again:
                raise

    @property
    def met(self) -> bool:
        """Whether there were any, so that what was not found may be there all the same."""
        return self._first is not None

    def raise_now(self) -> None:
        """The engine then reports that the rule could not run, and on account of which value."""
        if self._first:
            raise self._first
