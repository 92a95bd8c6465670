"""What one rehearsal cloud is started with, and keeps to."""

from dataclasses import dataclass
from pathlib import Path

from rehearsal.arm.home import Home, write_whole
from rehearsal.control_planes.wanted import Era


class OtherEraError(Exception):
    """A home holds the content of another era."""


@dataclass(frozen=True)
class Terms:
    """`kubernetes` is the folder of the control planes' binaries; without it there are none."""

    time_scale: float = 1.0
    era: Era = Era.TODAY
    kubernetes: Path | None = None


def settled_era(home: Home, wanted: Era | None) -> Era:
    """The era of a home: it is chosen at the first start, and what was made in it stays in it."""
    kept = Era(home.era.read_text().strip()) if home.era.exists() else None
    era = wanted or kept or Era.TODAY
    if kept is not None and kept is not era:
        raise OtherEraError(
            f"{home.path} is a rehearsal of the era `{kept}`, and cannot go on as `{era}`. Take it "
            "away first, or use another folder."
        )
    write_whole(home.era, f"{era}\n".encode())
    return era
