"""Where no browser can be had, `make test-browser` says so by name, and does not pass."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import browser
from tests.bench import ROOT

STORY = "tests/rehearsal/arm/dashboard/test_in_browser.py"


def test_a_missing_browser_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.missing().startswith("no browser: chromium and chromedriver not found")
    for name in ("chromium", "chromedriver"):
        (tmp_path / name).touch(0o755)
    assert browser.missing() == ""


@pytest.mark.nightly
def test_without_a_browser_its_tests_fail(tmp_path: Path) -> None:
    """A skipped test looks like one that has passed."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "browser", "-k", "kind", STORY],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "no browser: chromium and chromedriver not found" in ended.stdout
