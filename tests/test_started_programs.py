"""Who starts other programs: the one runner does, and each exception has its reason here."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.bench import ROOT

# The rooms that are installed, run or served; the tests may start what they like.
ROOMS = sorted(
    folder.name
    for folder in ROOT.iterdir()
    if folder.name not in {"build", "tests"}
    and not folder.name.startswith(".")
    and any(folder.rglob("*.py"))
)
REASONS = {
    "tools/aksgpu/pip_progress.py": (
        "pip, before anything of ours is installed; the Ctrl-C ends it too"
    ),
    "tools/aksgpu/running.py": "the runner itself",
    "tools/azure_proof/removal.py": "what removes all at the deadline: it outlives the proof",
    "tools/machine_setup/deploying.py": (
        "`pulumi plugin install`, by the same rule, in a job of a workflow"
    ),
    "tools/machine_setup/from_source/actionlint.py": "`make lint` has the terminal to itself",
    "tools/machine_setup/from_source/build.py": "Go, with its compilers, by the same rule",
    "tools/machine_setup/from_source/toolchain.py": "pip, for some seconds; the Ctrl-C ends it too",
    "tools/machine_setup/on_path.py": (
        "`pulumi version`, `helm version`: 30 s at most; the Ctrl-C ends it too"
    ),
    "tools/kube_client/login.py": (
        "whatever signs in to a cluster, for 20 s at most; all of it is killed"
    ),
    "plugins/provider_kit/configuration.py": (
        "`az account show`, in a plug-in: the engine ends that"
    ),
    "tools/rehearsal/cloud.py": "the rehearsal's server, which outlives the command",
    "tools/rehearsal/control_planes/processes.py": "what the server runs",
    "tools/rehearsal/offline_plug_ins/kubernetes/helm.py": "Helm, which a cancelled update ends",
    "tools/rehearsal/offline_plug_ins/loaded.py": "a plug-in, which ends with whoever started it",
}
# Whatever of Python's own starts a process, by module; None stands for all that a module has.
STARTERS: dict[str, tuple[str, ...] | None] = {
    "subprocess": ("Popen", "call", "check_call", "check_output", "getoutput",
                   "getstatusoutput", "run"),
    "asyncio": ("create_subprocess_exec", "create_subprocess_shell"),
    "os": ("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe",
           "fork", "forkpty", "popen", "posix_spawn", "posix_spawnp", "spawnl", "spawnle",
           "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "startfile",
           "system"),
    "multiprocessing": None,
    "pty": None,
    "pexpect": None,
    "sh": None,
    "webbrowser": None,
}  # fmt: skip
# Pulumi's Automation API starts the engine, unless it is told how.
OF_PULUMI = ("LocalWorkspace", "create_or_select_stack", "create_stack", "select_stack")


def starts(source: str) -> Iterator[int]:
    """The lines at which a module may start a program."""
    if not any(name in source for name in (*STARTERS, "automation")):
        return
    tree = ast.parse(source)
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                each.asname or each.name.partition(".")[0]: each.name
                if each.asname
                else each.name.partition(".")[0]
                for each in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        parts = ast.unparse(node).split(".")
        whole = ".".join([names.get(parts[0], ""), *parts[1:]]).split(".")
        for module, starters in STARTERS.items():
            if whole[0] == module and (starters is None or set(starters) & set(whole[1:])):
                yield node.lineno
        if whole[:2] == ["pulumi", "automation"] and set(OF_PULUMI) & set(whole[2:]):
            yield node.lineno


def sources() -> Iterator[Path]:
    yield from ROOT.glob("*.py")
    for room in ROOMS:
        yield from (ROOT / room).rglob("*.py")


def test_only_listed_files_start_programs() -> None:
    programs = {
        str(file.relative_to(ROOT))
        for file in sources()
        if any(starts(file.read_text(encoding="utf-8")))
    }
    # A workspace that is told to start the engine through the runner.
    assert programs == {*REASONS, "tools/aksgpu/review/automation.py"}
