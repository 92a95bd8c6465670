"""The way of a shell into the rehearsal, and back: what `aksgpu env` prints for it to evaluate."""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from aksgpu.rehearsal_stage import Era, Stage, rehearsal_home
from aksgpu.stack_names import short_name, stack_file
from engine.cache import Say
from rehearsal.cloud import find
from rehearsal.files import write_whole

# How a shell remembers what it had before, by the names of what it was given.
_BEFORE = "AKS_GPU_BEFORE"
_WAY_BACK = 'eval "$(.venv/bin/aksgpu env --unset)"'


def ways_in(stage: Stage, stack: str, before: Mapping[str, str]) -> Iterator[str]:
    """The lines by which a shell's plain `pulumi` and `kubectl` work on a rehearsed stack.

    `before` is the shell's environment as it is.
    """
    given = {**stage.exports(), **_of_stack(stage, stack)}
    # What another stack's way in has put there is not what the shell had.
    earlier = _remembered(before)
    kept = {name: earlier.get(name, before.get(name)) for name in {*given, *earlier}}
    given[_BEFORE] = json.dumps(kept, sort_keys=True)
    given["PATH"] = _without_repetition(given["PATH"])
    for name, value in given.items():
        yield f"export {name}={shlex.quote(value)}"
    project = stage.project
    real, own = stack_file(project.stack_files, stack), stack_file(project.folder, stack)
    take_over = (sys.executable, "-P", "-m", "aksgpu.rehearse.take_over")
    yield (
        f"pulumi() {{ if [ {_quoted(real)} -nt {_quoted(own)} ]; then "
        f"{_quoted(*take_over, project.program, project.home, stack)} || return; fi; "
        'command pulumi "$@"; }'
    )


def ways_out(before: Mapping[str, str]) -> Iterator[str]:
    """The lines by which a shell gets back to what it had."""
    if _BEFORE not in before:
        return
    for name, value in _remembered(before).items():
        yield f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"
    yield f"unset {_BEFORE}"
    yield "unset -f pulumi"


def say_which(stack: str, era: Era, say: Say) -> None:
    say(
        f"The stack {stack} of the rehearsal, in the era {era}: pulumi works on it from any folder,"
    )
    say(f"under the policy pack, and kubectl on its cluster. The way back: {_WAY_BACK}")
    if find(rehearsal_home(era)) is None:
        say("The rehearsal cloud does not run: it is started.")


def kubeconfig_of(home: Path, stack: str) -> Path:
    """Where the kubeconfig of a rehearsed stack's cluster is, if it has told one."""
    return home / "kubeconfigs" / short_name(stack)


def keep_kubeconfig(home: Path, stack: str, text: str | None) -> None:
    """Writes what the cluster's users get, for nobody else on this machine."""
    file = kubeconfig_of(home, stack)
    if text is None:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(file, text.encode(), 0o600)


def _of_stack(stage: Stage, stack: str) -> dict[str, str]:
    """What a shell needs beyond the cloud: one stack, one folder, the pack, and the cluster.

    The engine takes each of its options from the environment too. With the folder, a `pulumi` that
    is run in the checkout cannot write the rehearsal's key into a stack file there.
    """
    project = stage.project
    return {
        "KUBECONFIG": str(kubeconfig_of(project.home, stack)),
        "PULUMI_OPTION_CWD": str(project.folder),
        "PULUMI_OPTION_POLICY_PACK": str(project.pack),
        "PULUMI_OPTION_POLICY_PACK_CONFIG": str(project.configuration_of_the_pack(stack) or ""),
        "PULUMI_STACK": stack,
    }


def _remembered(environment: Mapping[str, str]) -> dict[str, str | None]:
    remembered: dict[str, str | None] = json.loads(environment.get(_BEFORE) or "{}")
    return remembered


def _without_repetition(path: str) -> str:
    return os.pathsep.join(dict.fromkeys(path.split(os.pathsep)))


def _quoted(*words: object) -> str:
    return shlex.join(map(str, words))
