"""The page of the commands: options, exit codes and causes."""

from typing import Any

import typer.main
from typer.core import TyperGroup

from aksgpu.main import app
from aksgpu.outcome import Cause
from aksgpu.rehearsal_stage import PROGRAM
from reference.markdown import code, sections, table

_EXIT_CODES = """\
## Exit codes

Every command, and `python -m tests.article`, ends with one of these:

| code | meaning |
|---|---|
| 0 | no problem was found |
| 1 | there is a problem: in the stack file, the change, Azure or the cluster |
| 2 | an option is wrong, or the stack does not exist |
| 3 | the command could not find out, or failed itself |
| 130 | the command was interrupted: Ctrl-C, SIGTERM, or a closed terminal |

An interruption is noticed at any time. Programs that the command has started get one Ctrl-C and are
waited for; a second one kills them. A command in the background of a shell or under `nohup` ignores
what the shell ignores for it.

## Causes

The output names the cause in a word: `Result: quota-too-small - ...`, or `cause` in the JSON
document. If there are several causes, the first one in this table counts: what kept the command
from finding out comes before what it found, and a cause comes before those that it explains."""


def page() -> str:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)  # noqa: S101 (aksgpu has several commands)
    causes = table(
        ("cause", "code", "meaning"),
        ((code(cause.word), str(cause.exit_code), cause.meaning) for cause in Cause),
    )
    return sections(
        "Commands",
        "`aksgpu` is in the project's environment: `.venv/bin/aksgpu`. `aksgpu COMMAND --help` "
        "shows what is here.",
        *(_command(name, command) for name, command in group.commands.items()),
        _EXIT_CODES,
        causes,
    )


def _command(name: str, command: Any) -> str:
    arguments = [f"[{each.name}]" for each in command.params if _is_argument(each)]
    usage = " ".join(
        ["aksgpu", name, *["[OPTIONS]"] * (len(command.params) > len(arguments)), *arguments]
    )
    rows = [_parameter(parameter) for parameter in command.params]
    return "\n\n".join(
        [
            f"## aksgpu {name}",
            (command.help or "").strip(),
            f"    {usage}",
            table(("option", "default", "meaning"), rows),
        ]
    ).strip()


def _parameter(parameter: Any) -> tuple[str, str, str]:
    help_text = str(getattr(parameter, "help", "") or "")
    if _is_argument(parameter):
        return code(parameter.name), "none", help_text
    return ", ".join(map(code, parameter.opts)), _default(parameter), help_text


def _default(parameter: Any) -> str:
    if parameter.required:
        return "**required**"
    # A path of this machine says nothing: some options say what it is.
    if isinstance(described := getattr(parameter, "show_default", None), str):
        return described
    if parameter.default == PROGRAM:
        return "this project"
    if getattr(parameter, "is_flag", False):
        return "off"
    return code(parameter.default) if parameter.default not in (None, "", ()) else "none"


def _is_argument(parameter: Any) -> bool:
    return str(parameter.param_type_name) == "argument"
