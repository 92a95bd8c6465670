"""Runs Helm, and finds the charts that it installs."""

import asyncio
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from aks_catalogue import gpu_operator
from provider_kit.cancellation import Cancellation, CancelledUpdateError
from provider_kit.serving import ProviderError
from rehearsal.offline_plug_ins.kubernetes.objects import refused
from rehearsal.offline_plug_ins.launch import HELM_VARIABLE

Json = dict[str, Any]

_FOLDER = Path(__file__).parent / "charts"
# Charts of the rehearsal's own in the place of others, by repository and name.
_PLAYED: Mapping[tuple[str, str], Path] = MappingProxyType(
    {(gpu_operator.REPOSITORY, gpu_operator.CHART): _FOLDER / gpu_operator.CHART}
)
_EXACT = re.compile(r"v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", re.ASCII)
# How the variables begin that stand for Helm's options.
_OWN = "HELM_"
# What Helm's command line puts before the reason.
_BEFORE_REASON = re.compile(r"\AError: ([A-Z ]+ FAILED: )?")
NOT_FOUND = "release: not found"


class HelmError(ProviderError):
    """Helm failed; the message is its reason."""


@dataclass(frozen=True)
class Chart:
    """A chart that is there, and its version, which can differ from that of its files."""

    folder: Path
    name: str
    version: str
    app_version: str


def chart_of(inputs: Mapping[str, Any]) -> Chart:
    """Returns the chart of a release. Raises HelmError if Helm would not find it."""
    name, version = str(inputs["chart"]), str(inputs.get("version") or "")
    repository = str((inputs.get("repositoryOpts") or {}).get("repo") or "")
    if not repository and (Path(name) / "Chart.yaml").is_file():
        return _read(Path(name).absolute(), "")
    folder = _PLAYED.get((repository.rstrip("/"), name))
    if folder is None:
        raise refused(f"the chart {name} of {repository or 'no repository'}")
    if version and not _EXACT.fullmatch(version):
        raise HelmError(f'chart "{name}" version "{version}" not found in {repository} repository')
    return _read(folder, version or gpu_operator.VERSION)


def _read(folder: Path, version: str) -> Chart:
    about = yaml.safe_load((folder / "Chart.yaml").read_text())
    app_version = version or str(about.get("appVersion", ""))
    return Chart(folder, about["name"], version or str(about["version"]), app_version)


@dataclass(frozen=True)
class Helm:
    """Helm on one cluster."""

    kubeconfig: str
    cancellation: Cancellation

    async def release(self, namespace: str, name: str) -> Json | None:
        """Returns a release as Helm knows it, with its metadata; None if there is none."""
        try:
            status = json.loads(await self.run("status", name, "-n", namespace, "-o", "json"))
        except HelmError as error:
            if NOT_FOUND in str(error):
                return None
            raise
        about = json.loads(await self.run("get", "metadata", name, "-n", namespace, "-o", "json"))
        return {**status, "metadata": about}

    async def apply(
        self,
        verb: str,
        chart: Chart,
        name: str,
        namespace: str,
        values: Mapping[str, Any],
        flags: Sequence[str],
    ) -> None:
        """Installs or upgrades a release. Raises HelmError also if it does not become ready.

        A cancelled update interrupts it, as in the original, which cannot interrupt an uninstall.
        """
        with _with_version(chart) as folder:
            file = folder.parent / "values.json"
            file.write_text(json.dumps(values))
            options = ["-n", namespace, "--values", str(file), *flags]
            await self.run(verb, name, str(folder), *options, is_cancellable=True)

    async def run(self, *arguments: str, is_cancellable: bool = False) -> str:
        """Returns what Helm prints. Where a cancelled update interrupts it, it then says so.

        Raises CancelledUpdateError if the interruption came before Helm had begun.
        """
        with tempfile.TemporaryDirectory() as home:
            # The user's HELM_KUBEAPISERVER, for one, goes before the kubeconfig.
            others = {n: value for n, value in os.environ.items() if not n.startswith(_OWN)}
            folders = {f"{_OWN}{kind}_HOME": home for kind in ("CACHE", "CONFIG", "DATA")}
            process = await asyncio.create_subprocess_exec(
                _program(),
                *("--kubeconfig", _file(home, self.kubeconfig)),
                *arguments,
                env={**others, **folders},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            ending = asyncio.ensure_future(process.communicate())
            try:
                if is_cancellable:
                    await self.cancellation.watch(asyncio.shield(ending))
            except CancelledUpdateError:
                if process.returncode is None:
                    process.terminate()
                await ending
                # Helm listens to the signal from when it begins to change the cluster.
                if process.returncode == -signal.SIGTERM:
                    raise
            output, errors = await ending
        if process.returncode:
            text = errors.decode(errors="replace")
            said = text[max(text.find("Error: "), 0) :].strip()
            raise HelmError(_BEFORE_REASON.sub("", said))
        return output.decode()


def _program() -> str:
    program = os.environ.get(HELM_VARIABLE, "")
    if not Path(program).is_file():
        raise ProviderError(
            "A Helm release is rehearsed with a real Helm 3, and there is none: "
            "`.venv/bin/python -m machine_setup helm` finds or builds one."
        )
    return program


def _file(home: str, kubeconfig: str) -> str:
    file = Path(home, "kubeconfig")
    file.touch(0o600)
    file.write_text(kubeconfig)
    return str(file)


@contextmanager
def _with_version(chart: Chart) -> Iterator[Path]:
    """Copies a chart, and gives the copy its version."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / chart.name
        shutil.copytree(chart.folder, folder)
        about = yaml.safe_load((folder / "Chart.yaml").read_text())
        about |= {"version": chart.version, "appVersion": chart.app_version}
        (folder / "Chart.yaml").write_text(yaml.safe_dump(about))
        yield folder
