"""A Kubernetes of the tests' own, and Pulumi projects that the offline plug-in plays a part in."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.rehearsal.offline_plug_ins.kubernetes.control_plane import ControlPlane, running


@dataclass(frozen=True)
class KubernetesBench(Bench):
    """A project whose kubernetes is the offline one; `KUBECONFIG_FILE` names the tests' cluster."""

    plane: ControlPlane

    @property
    def environment(self) -> dict[str, str]:
        return {
            **super().environment,
            "KUBECONFIG_FILE": str(self.plane.file),
            "KUBECONFIG": str(self.folder / "none"),
        }


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with running(tmp_path_factory.mktemp("control-plane")) as plane:
        plane.add_node("aks-gpu-12345678-0")
        yield plane


@pytest.fixture
def kube(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path, plane: ControlPlane
) -> KubernetesBench:
    """A Pulumi project of the test's own, with a stack, beside the tests' cluster."""
    return KubernetesBench(engine, engine_cloud, tmp_path, plane).begin()
