"""No room grows unnoticed: a commit that raises a ceiling says why in its row."""

from tests.lines import ceilings, counted


def test_every_room_is_below_its_ceiling() -> None:
    """The product doubled in two waves, and no commit had asked whether a user needs it."""
    lines, most = counted(), ceilings()
    assert {*lines["programs"], *lines["others"]} <= most.keys()
    above = {
        room: (lines["programs"][room], lines["others"][room], ceiling)
        for room, ceiling in most.items()
        if lines["programs"][room] > ceiling.programs or lines["others"][room] > ceiling.others
    }
    assert not above, "see python -m tests.lines"


def test_generated_files_do_not_count() -> None:
    assert counted()["others"]["aks_catalogue"] < 1100
