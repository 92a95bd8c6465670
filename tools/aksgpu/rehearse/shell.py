"""What `aksgpu env` prints: shell commands that switch a shell to a rehearsed stack, and back."""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from aksgpu.rehearsal_stage import Stage, command_line
from aksgpu.rehearse.planning import configuration_of_the_pack
from aksgpu.stack_names import short_name, stack_file
from machine_setup.cache import Say
from rehearsal.files import write_whole

# The variable with the shell's earlier values of the variables that were set.
_BEFORE = "AKS_GPU_BEFORE"


def commands_to_enter(stage: Stage, stack: str, before: Mapping[str, str]) -> Iterator[str]:
    """The commands after which a shell's `pulumi` and `kubectl` work on a rehearsed stack.

    `before` is the shell's current environment.
    """
    variables = {**stage.exports(), **_of_stack(stage, stack)}
    # Values that `aksgpu env` set for another stack are not the shell's earlier values.
    earlier = _remembered(before)
    kept = {name: earlier.get(name, before.get(name)) for name in {*variables, *earlier}}
    variables[_BEFORE] = json.dumps(kept, sort_keys=True)
    variables["PATH"] = _without_repetition(variables["PATH"])
    for name, value in variables.items():
        yield f"export {name}={shlex.quote(value)}"
    project = stage.project
    source, copy = stack_file(project.stack_files, stack), stack_file(project.folder, stack)
    copy_stack_file = (sys.executable, "-P", "-m", "aksgpu.rehearse.take_over")
    yield (
        f"pulumi() {{ if [ {_quoted(source)} -nt {_quoted(copy)} ]; then "
        f"{_quoted(*copy_stack_file, project.program, project.home, stack)} || return; fi; "
        'command pulumi "$@"; }'
    )


def commands_to_leave(before: Mapping[str, str]) -> Iterator[str]:
    """The commands that restore a shell's earlier environment."""
    if _BEFORE not in before:
        return
    for name, value in _remembered(before).items():
        yield f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"
    yield f"unset {_BEFORE}"
    yield "unset -f pulumi"


def say_which(stage: Stage, stack: str, say: Say) -> None:
    pack = " with the policy pack," if stage.project.pack else ""
    say(f"The shell now uses the rehearsed stack {stack}: pulumi from any folder,{pack}")
    switch_back = f'eval "$({command_line("env", "--unset")})"'
    say(f"and kubectl on its cluster. To switch back: {switch_back}")


def kubeconfig_of(home: Path, stack: str) -> Path:
    """The file of a rehearsed stack's kubeconfig; it exists if the stack has that output."""
    return home / "kubeconfigs" / short_name(stack)


def keep_kubeconfig(home: Path, stack: str, text: object) -> None:
    """Writes the kubeconfig, readable only by this user."""
    file = kubeconfig_of(home, stack)
    if not isinstance(text, str):
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(file, text.encode(), 0o600)


def _of_stack(stage: Stage, stack: str) -> dict[str, str]:
    """The variables of one stack: folder, policy pack, and kubeconfig.

    The engine also reads options from the environment. The option for the folder keeps a `pulumi`
    in the checkout from writing the rehearsal's encryption salt into a stack file there.
    """
    project = stage.project
    return {
        "KUBECONFIG": str(kubeconfig_of(project.home, stack)),
        "PULUMI_OPTION_CWD": str(project.folder),
        "PULUMI_OPTION_POLICY_PACK": str(project.pack or ""),
        "PULUMI_OPTION_POLICY_PACK_CONFIG": str(configuration_of_the_pack(stage, stack) or ""),
        "PULUMI_STACK": stack,
    }


def _remembered(environment: Mapping[str, str]) -> dict[str, str | None]:
    values: dict[str, str | None] = json.loads(environment.get(_BEFORE) or "{}")
    return values


def _without_repetition(path: str) -> str:
    return os.pathsep.join(dict.fromkeys(path.split(os.pathsep)))


def _quoted(*words: object) -> str:
    return shlex.join(map(str, words))
