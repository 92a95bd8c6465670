"""The Azure CLI is installed once, whole or not at all."""

import sys
from pathlib import Path

import pytest

from tests.article import azure_cli
from tests.article.azure_cli import AzureCliUnavailableError, ensure_azure_cli

# Stands for Python: makes an environment whose own Python fails, as pip does without an index.
PYTHON = """#!/bin/sh
mkdir -p "$3/bin"
ln -s /bin/false "$3/bin/python"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "aks-gpu"


def test_an_installed_azure_cli_is_used(cache: Path) -> None:
    there = cache / f"azure-cli-{azure_cli.VERSION}"
    there.mkdir(parents=True)
    messages: list[str] = []

    assert ensure_azure_cli(messages.append) == there / "bin"
    assert messages == []


def test_a_failed_install_leaves_nothing_that_looks_complete(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = cache.parent / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))

    with pytest.raises(AzureCliUnavailableError, match="could not be installed from PyPI"):
        ensure_azure_cli(lambda _: None)

    assert not (cache / f"azure-cli-{azure_cli.VERSION}").exists()
