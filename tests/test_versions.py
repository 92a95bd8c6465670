"""The project's version is one, wherever it is written."""

import re
import tomllib

import yaml

from aks_preview.configuration import VERSION
from tests.bench import ROOT


def test_the_newest_version_of_the_changelog_is_the_projects_and_the_packs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    pack = yaml.safe_load((ROOT / "policies" / "PulumiPolicy.yaml").read_text())["version"]
    unreleased, newest, *_ = re.findall(
        r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    )

    assert unreleased == "Unreleased"
    assert {project, pack, VERSION} == {newest}
