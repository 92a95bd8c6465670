"""Counts the files written by hand that a change touches: `python -m tests.cost COMMIT...`."""

import sys

from tests.lines import by_hand, git

if __name__ == "__main__":
    for commit in sys.argv[1:]:
        [subject] = git("show", "--no-patch", "--format=%h %s", commit)
        names = by_hand(git("show", "--format=", "--name-only", commit))
        sys.stdout.write("\n   ".join([f"{len(names)}  {subject}", *names]) + "\n")
