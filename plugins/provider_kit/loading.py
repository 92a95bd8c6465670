"""Speeds up the import of Pulumi's and Azure's SDKs, which have many thousand classes."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unsearched() -> Iterator[None]:
    """Turns off garbage collection for imports, which saves a fifth of their time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
