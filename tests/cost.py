"""Counts the files written by hand that a change touches: `python -m tests.cost COMMIT...`."""

import sys

from tests.lines import git


def touched(commit: str) -> list[str]:
    names = git("show", "--format=", "--name-only", commit)
    attributes = git("check-attr", "linguist-generated", "--", *names)
    return [line.split(": ")[0] for line in attributes if not line.endswith(": set")]


if __name__ == "__main__":
    for commit in sys.argv[1:]:
        [subject] = git("show", "--no-patch", "--format=%h %s", commit)
        names = touched(commit)
        sys.stdout.write("\n   ".join([f"{len(names)}  {subject}", *names]) + "\n")
