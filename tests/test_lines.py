"""The sizes of the rooms, which the gate prints and which fail nobody."""

from pathlib import Path

from tests.lines import ROOT, counted, git, rooms


def test_every_room_is_there() -> None:
    folders = [
        folder for room in rooms() for folder in f"{room['product']} {room['tests']}".split()
    ]
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []
    assert {Path(name).parts[0] for name in git("ls-files", "*.py") if "/" in name} <= {
        Path(folder).parts[0] for folder in folders if folder != "./"
    }


def test_generated_files_do_not_count() -> None:
    assert counted()["aks_catalogue", "product", True] < 1300
