"""The reference pages are what the code makes of them, and leave nothing out."""

from pathlib import Path

import pytest

from components.package.docstrings import MissingDocstringError, described
from reference.pages import FOLDER, PAGES
from stack_settings.model import Settings
from stack_settings.pools import GpuPool
from stack_settings.section import keys


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    """An option or a default changed, and its page still had the old one: run `make docs`."""
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name]()


def test_there_are_no_other_pages() -> None:
    assert {path.name for path in Path(FOLDER).iterdir()} == set(PAGES)


def test_each_key_of_a_stack_file_has_a_row() -> None:
    page = PAGES["stack-file.md"]()
    for section in (Settings, GpuPool):
        for key in keys(section):
            assert f"| `{key}` |" in page


class Described:
    said: int
    """What it means. Default: one that
    follows."""
    unsaid: int


def test_a_docstring_gives_the_meaning_and_the_default_of_an_attribute() -> None:
    attribute = described(Described, "said")
    assert (attribute.meaning, attribute.default) == ("What it means.", "one that follows")


def test_an_attribute_without_a_docstring_is_refused() -> None:
    with pytest.raises(MissingDocstringError, match=r"Described\.unsaid has no docstring"):
        described(Described, "unsaid")
