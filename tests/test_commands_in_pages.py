"""The commands that pages name exist, with the options that pages give them."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from aksgpu.main import app
from machine_setup import Engine
from tests.bench import ROOT
from tests.test_links import PAGES

# In a block, or between backticks.
_COMMAND = re.compile(
    r"(?:^ {4,}(?:\S*=\S* )*|`)(?:\S*/)?(pulumi|aksgpu) ([a-z][^`\n]*)", re.MULTILINE
)
_WITH_COMMANDS = ("config", "policy", "stack", "state")
_OPTION = re.compile(r"(?<=\s)(--[a-z][a-z-]+|-[a-zA-Z]\b)")


def commands(program: str) -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        # What was once, may be gone.
        if page.name not in ("CHANGELOG.md", "upgrade.md") and "decisions" not in page.parts:
            for match in _COMMAND.finditer(page.read_text(encoding="utf-8")):
                if match[1] == program:
                    yield page.relative_to(ROOT), re.split(r" \|\|| \||;|\(", match[2])[0]


def test_aksgpu_has_the_commands_and_options_of_the_pages() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in group.commands.items()
    }
    commands_of_pages = list(commands("aksgpu"))
    assert len(commands_of_pages) > 30
    for page, command in commands_of_pages:
        name = command.split()[0].rstrip(".,:")
        assert name in options, (page, command)
        assert set(_OPTION.findall(command)) <= options[name] | {"--help"}, (page, command)


@pytest.mark.engine
@pytest.mark.nightly
def test_pulumi_has_the_commands_and_options_of_the_pages(engine: Engine) -> None:
    wanted_options: dict[str, set[str]] = {}
    for _, command in commands("pulumi"):
        first, *rest = re.findall(r"(?<!\S)(?:[a-z]+|\S+)", command)
        more = rest[:1] if first in _WITH_COMMANDS and rest and rest[0].isalpha() else []
        name = " ".join([first, *more])
        wanted_options.setdefault(name, set()).update(_OPTION.findall(command))
    assert {"up", "import", "state delete"} <= wanted_options.keys()
    for name, options in wanted_options.items():
        ended = subprocess.run(
            [engine.pulumi, *name.split(), "--help"], capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, name
        known = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", ended.stdout))
        assert options <= known, name
