"""Loading Pulumi's and Azure's SDKs, which are many thousand classes that all stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unsearched() -> Iterator[None]:
    """Nothing that is loaded meanwhile is searched for garbage: it takes a fifth of the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
