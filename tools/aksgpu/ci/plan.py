"""What a preview would do, as lines to approve, and to compare with a later preview.

    pulumi preview --json | python3 -m aksgpu.ci.plan

prints a line for each resource that changes, with its properties, and no values: some are secret.
"""

import json
import sys
from typing import Any

# Steps that change nothing.
_STAYS = {"same", "refresh", "read"}


def plan_of(preview: dict[str, Any]) -> list[str]:
    """The lines, in an order that does not depend on the engine's."""
    return sorted(_line(step) for step in preview["steps"] if step["op"] not in _STAYS)


def _line(step: dict[str, Any]) -> str:
    *_, kind, name = step["urn"].split("::")
    properties = ", ".join(sorted(step.get("detailedDiff") or step.get("diffReasons") or ()))
    return f"{step['op']} {kind.rpartition('$')[2]} {name}" + (f": {properties}" * bool(properties))


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in plan_of(json.load(sys.stdin))))
