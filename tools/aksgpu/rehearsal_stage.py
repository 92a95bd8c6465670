"""Prepares a rehearsal: the engine, the rehearsal cloud, and the project."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from aksgpu.outcome import Cause, stopped
from aksgpu.project import Project
from aksgpu.running import Program
from aksgpu.stack_names import mistake_in_name, short_name
from machine_setup import Engine, ensure_engine, ensure_kubernetes, helm_place
from machine_setup.cache import Say
from rehearsal.cloud import Cloud, refuse_other_systems
from rehearsal.cloud import start as start_cloud
from rehearsal.files import write_whole
from rehearsal.offline_plug_ins.launch import HELM_VARIABLE

PROGRAM = Path(__file__).resolve().parents[2]
# The folder of another team's program, which is rehearsed in place of this checkout's.
PROJECT_VARIABLE = "AKS_GPU_PROJECT"


def rehearsed_program() -> Path:
    return Path(os.environ.get(PROJECT_VARIABLE) or PROGRAM)


def is_of_others() -> bool:
    """Whether another team's program is rehearsed: its stack files are not ours."""
    return rehearsed_program() != PROGRAM


def rehearsed_project(home: Path, pack: Path | None = None) -> Project:
    """The rehearsal's project for the program. `pack` takes the place of the program's pack."""
    return Project(rehearsed_program(), home, pack, keeps_runtime=is_of_others())


def command_line(*words: str, stack: str = "") -> str:
    """A command on the rehearsed program, as people type it."""
    aksgpu, options = ".venv/bin/aksgpu", ["--stack", stack] if stack else []
    if is_of_others():
        aksgpu = str(PROGRAM / aksgpu)
        options = ["--project", str(rehearsed_program()), *options]
    return shlex.join([aksgpu, *words, *options])


def rehearse_line(stack: str) -> str:
    """The command that rehearses a stack, with the policy pack that it was given last."""
    pack = given_pack(stack)
    if pack or is_of_others():
        options = ["--policy-pack", str(pack)] if pack else []
        return command_line("rehearse", *options, stack=stack)
    return f"make rehearse STACK={shlex.quote(stack)}"


def down_line() -> str:
    """The command that removes the rehearsal."""
    return command_line("rehearse-down") if is_of_others() else "make rehearse-down"


def rehearsal_root() -> Path:
    return Path(os.environ.get("AKS_GPU_REHEARSAL_ROOT", rehearsed_program()))


def rehearsal_home() -> Path:
    """The folder of the program's rehearsal."""
    return rehearsal_root() / ".rehearsal"


def given_pack(stack: str) -> Path | None:
    """The policy pack that the stack's last rehearsal was given in place of the program's own."""
    file = _file_of_pack(stack)
    return Path(file.read_text(encoding="utf-8")) if file.exists() else None


def keep_given_pack(stack: str, pack: Path | None) -> None:
    file = _file_of_pack(stack)
    if pack is None:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(exist_ok=True)
    write_whole(file, str(pack).encode(), 0o600)


def _file_of_pack(stack: str) -> Path:
    return rehearsal_home() / "policy-packs" / short_name(stack)


def require_name(stack: str) -> None:
    """Raises StoppedError for a stack's name that the rehearsal's backend refuses."""
    if mistake := mistake_in_name(stack):
        raise stopped(Cause.STACK_MISSING, *mistake)


def pulumi_in(
    engine: Engine, folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> Program:
    """This engine's `pulumi` in a project; it comes first on the PATH too."""
    path = engine.on_path(environment.get("PATH") or os.environ.get("PATH", os.defpath))
    return Program((engine.pulumi,), folder, {**environment, "PATH": path})


def rehearsal_environment(project: Project, cloud: Cloud) -> dict[str, str]:
    """The variables with which `pulumi` and the offline plug-ins work on a rehearsal cloud."""
    return {
        **project.environment(),
        **cloud.environment(),
        # Only stacks with Helm releases need it to be there.
        HELM_VARIABLE: str(helm_place()),
        "PATH": cloud.on_path(os.environ.get("PATH", os.defpath)),
    }


@dataclass(frozen=True)
class Stage:
    engine: Engine
    cloud: Cloud
    project: Project
    # Additional environment variables for `pulumi`.
    extra: Mapping[str, str] = field(default_factory=dict)

    def exports(self) -> dict[str, str]:
        """What a shell needs, so that plain `pulumi` works on the rehearsal."""
        return dict(self.pulumi().environment)

    def pulumi(self) -> Program:
        environment = {**rehearsal_environment(self.project, self.cloud), **self.extra}
        return pulumi_in(self.engine, self.project.folder, environment)


def set_stage(say: Say, pack: Path | None = None) -> Stage:
    """Everything that a rehearsal needs: creates and starts what is missing."""
    refuse_other_systems()
    home = rehearsal_home()
    engine = ensure_engine(say)
    kubernetes = ensure_kubernetes(say)
    cloud = start_cloud(home, kubernetes=kubernetes.folder, say=say)
    project = rehearsed_project(home, pack)
    project.write()
    # Another team's program may need more plug-ins than the offline ones.
    if is_of_others():
        project.share_plug_ins(Path.home() / ".pulumi" / "plugins")
    more = {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false"} if is_of_others() else {}
    return Stage(engine, cloud, project, more)
