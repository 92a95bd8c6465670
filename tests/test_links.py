"""Links between pages lead somewhere: to a file of this repository, and to a heading in it."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.bench import ROOT

_LINK = re.compile(r"\[[^\]]*\]\((?P<path>[^)#\s]*)(?:#(?P<heading>[^)\s]+))?\)")
_LISTED = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
PAGES = sorted(
    ROOT / name
    for name in subprocess.run(
        _LISTED, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if "docs/examples/" not in name and (ROOT / name).exists()
)


def without_code(page: Path) -> str:
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    titles = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_existing_targets(page: Path) -> None:
    for link in _LINK.finditer(without_code(page)):
        if "://" in link["path"]:
            continue
        target = (page.parent / link["path"]) if link["path"] else page
        assert target.exists(), link[0]
        assert not link["heading"] or link["heading"] in headings(target), link[0]


def test_the_index_lists_every_decision() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\((0[^)]+)\)", (folder / "README.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in folder.glob("0*.md")}
