"""The mark of tests that need Go: skipped on a machine without it, but never in CI."""

import os
import shutil

import pytest

NEEDS_GO = pytest.mark.skipif(
    shutil.which("go") is None and "CI" not in os.environ, reason="needs Go"
)
