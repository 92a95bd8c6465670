"""Copies the policy pack into a folder that works anywhere and for any program.

    python -m aksgpu.policy_pack build/policy-pack

Besides the rules and their tables, the folder has a requirements file: `pulumi-policy` and its
dependencies, at the versions that this project is tested with.
"""

import shutil
import sys
from pathlib import Path

import yaml

_PROJECT = Path(__file__).resolve().parents[2]
_PACKAGES = ("policies", "aks_pools", "aks_catalogue")
_PAGES = (Path("docs", "policies.md"), Path("docs", "reference", "rules.md"))
_REQUIREMENTS = "requirements.txt"
# `pulumi policy publish` leaves out what Git would.
_NOT_PUBLISHED = "venv/\n__pycache__/\n"

_PROGRAM = '''"""Starts the policy pack that lies beside this file."""

import policies.__main__  # noqa: F401
'''


def assemble(place: Path) -> None:
    """Writes the folder again; a virtual environment in it stays."""
    place.mkdir(parents=True, exist_ok=True)
    for package in _PACKAGES:
        if (place / package).exists():
            shutil.rmtree(place / package)
        shutil.copytree(
            _PROJECT / package,
            place / package,
            ignore=shutil.ignore_patterns("__pycache__", "PulumiPolicy.yaml", _REQUIREMENTS),
        )
    for page in _PAGES:
        (place / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(_PROJECT / page, place / page)
    (place / ".gitignore").write_text(_NOT_PUBLISHED, encoding="utf-8")
    (place / "__main__.py").write_text(_PROGRAM, encoding="utf-8")
    (place / "PulumiPolicy.yaml").write_text(_project_file(), encoding="utf-8")
    shutil.copy2(_PROJECT / "policies" / _REQUIREMENTS, place / _REQUIREMENTS)


def _project_file() -> str:
    ours = yaml.safe_load((_PROJECT / "policies" / "PulumiPolicy.yaml").read_text(encoding="utf-8"))
    ours["runtime"]["options"] = {"toolchain": "pip", "virtualenv": "venv"}
    return str(yaml.safe_dump(ours, sort_keys=False))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    try:
        assemble(folder)
    except OSError as error:
        sys.exit(f"The policy pack cannot be written: {error}")
    sys.stdout.write(
        f"The policy pack is in {folder}. Copy it to its final place; in that folder, once:\n"
        "    pulumi install\n"
        "Then, for any program:\n"
        "    pulumi preview --policy-pack FOLDER\n"
        "For all stacks of an organization of Pulumi Cloud, in that folder:\n"
        "    pulumi policy publish ORGANIZATION\n"
    )
