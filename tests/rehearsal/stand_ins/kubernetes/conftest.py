"""A Kubernetes of the tests' own, and Pulumi projects that the stand-in plays a part in."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from engine import Engine
from rehearsal.cloud import Cloud
from tests.bench import ROOT, Bench
from tests.rehearsal.stand_ins.kubernetes import control_plane
from tests.rehearsal.stand_ins.kubernetes.control_plane import ControlPlane


@dataclass(frozen=True)
class KubernetesBench(Bench):
    """A project whose kubernetes is the stand-in; `KUBECONFIG_FILE` names the tests' cluster."""

    plane: ControlPlane

    def write(self, program: str) -> None:
        super().write(program)
        file = self.folder / "project" / "Pulumi.yaml"
        project = yaml.safe_load(file.read_text())
        others = [p for p in project["plugins"]["providers"] if p["name"] != "kubernetes"]
        stand_in = {"name": "kubernetes", "path": str(ROOT / "rehearsal" / "kubernetes_provider")}
        project["plugins"]["providers"] = [*others, stand_in]
        file.write_text(yaml.safe_dump(project))

    @property
    def environment(self) -> dict[str, str]:
        return {
            **super().environment,
            "KUBECONFIG_FILE": str(self.plane.folder / "kubeconfig"),
            "KUBECONFIG": str(self.folder / "none"),
        }


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    running = control_plane.start(tmp_path_factory.mktemp("control-plane"))
    try:
        control_plane.add_node(running, "aks-gpu-12345678-0")
        yield running
    finally:
        control_plane.remove(running)


@pytest.fixture
def kube(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path, plane: ControlPlane
) -> KubernetesBench:
    """A Pulumi project of the test's own, with a stack, beside the tests' cluster."""
    own = KubernetesBench(engine, engine_cloud, tmp_path, plane)
    own.write("")
    own.pulumi("stack", "init")
    return own
