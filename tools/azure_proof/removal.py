"""Removes what a proof has created, at its deadline, whatever became of the proof itself.

    python -m azure_proof.removal FOLDER

waits for the deadline of the proof in the folder, and then deletes its resource group. The proof
starts it in a session of its own. It ends by itself once the group is gone.
"""

import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import typer
from filelock import FileLock, Timeout
from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.report import table
from azure_proof.azure import Arm, signed_in
from azure_proof.steps import TAG
from machine_setup.progress import to_stderr
from rehearsal.files import read_json

RECORD = "record.json"
# Between two looks at the clock, and between two attempts without a connection.
_LOOK_SECONDS = 1.0
AGAIN_SECONDS = 60.0


def start(folder: Path) -> None:
    """Starts the removal in the background, if none waits there already."""
    command = [sys.executable, "-m", "azure_proof.removal", str(folder)]
    with (folder / "removal.log").open("ab") as log:
        subprocess.Popen(
            command,
            cwd=PROGRAM / "tools",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def at_the_deadline(folder: Path) -> None:
    """Deletes the group of a folder's proof at its deadline. Ends early if the proof has ended."""
    while (record := read_json(folder / RECORD)) is not None:
        if datetime.now(UTC) < datetime.fromisoformat(record["deadline"]):
            time.sleep(_LOOK_SECONDS)
            continue
        try:
            with signed_in() as arm:
                remove(arm, folder, record["name"])
        # Whatever it is: as long as the group is there, it costs.
        except Exception as error:
            to_stderr(f"The removal is tried again in a minute: {type(error).__name__}")
            time.sleep(AGAIN_SECONDS)


def remove(arm: Arm, folder: Path, name: str) -> None:
    """Deletes a group, and forgets the proof whose group it is."""
    if arm.group(name) is not None:
        to_stderr(f"Deleting the resource group {name} ...")
        arm.remove_group(name)
    if (record := read_json(folder / RECORD)) and record["name"] == name:
        forget(folder)


def forget(folder: Path) -> None:
    """The next proof in this folder is a new one; the evidence stays."""
    # The removal at the deadline and the proof itself can come to this together.
    with suppress(FileNotFoundError):
        (folder / RECORD).rename(folder / "ended.json")


def clean(folder: Path, console: Console, *, yes: bool) -> int:
    """Deletes the groups of all proofs in the subscription, after it has asked; the exit code."""
    with signed_in() as arm:
        found = {group["name"]: group["tags"][TAG] for group in arm.groups_with(TAG)}
        if not found:
            console.print("No proof has left anything in this subscription.")
            return 0
        shown = table("resource group", "was to be removed by", title="Left by proofs")
        for name, deadline in found.items():
            shown.add_row(name, deadline)
        console.print(shown)
        if not (yes or typer.confirm("Delete all of them, with everything in them?")):
            console.print("Nothing was deleted.")
            return 0
        for name in found:
            remove(arm, folder, name)
        console.print("Deleted.")
    return 0


def main(folder: Path) -> None:
    # Another one waits already, of an earlier run of the same proof.
    with suppress(Timeout), FileLock(folder / "removal.lock", blocking=False):
        at_the_deadline(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
