"""Renews tables of facts: `python -m renew`, or one of them. What changed is then in `git diff`.

cpu_sizes  the VM sizes without GPUs, from the list that Kubernetes' autoscaler has of Azure's
"""

import argparse
import sys
import tempfile
from pathlib import Path

from machine_setup.download import download
from machine_setup.errors import SourceUnavailableError
from machine_setup.progress import Progress
from renew import cpu_sizes

# Where each table comes from, and what makes it.
TABLES = {"cpu_sizes": (cpu_sizes.ADDRESS, cpu_sizes.renew)}


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m renew",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("table", choices=TABLES, nargs="?")
    parser.add_argument("--from", dest="file", type=Path, help="a copy of the list on this machine")
    chosen = parser.parse_args()
    if chosen.file and not chosen.table:
        parser.error("--from needs a table")
    try:
        for name in [chosen.table] if chosen.table else TABLES:
            _renew(name, chosen.file)
    except (SourceUnavailableError, OSError, ValueError) as error:
        _say(str(error))
        return 1
    return 0


def _renew(name: str, file: Path | None) -> None:
    address, renew = TABLES[name]
    if file:
        sys.stdout.write(renew(file.read_text()))
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "list"
        with Progress("Downloading the list", _say) as progress:
            download(address, copy, progress)
        sys.stdout.write(renew(copy.read_text()))


if __name__ == "__main__":
    sys.exit(main())
