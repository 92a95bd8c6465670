"""Where an offline review brings up the base: what its pulumi finds, and what comes first."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from aksgpu.project import Project
from aksgpu.rehearsal_stage import Stage
from aksgpu.review import offline
from aksgpu.review.automation import Place
from aksgpu.review.model import StackReview
from machine_setup import Engine, EngineUnavailableError
from rehearsal.cloud import Cloud
from rehearsal.offline_plug_ins.launch import HELM_VARIABLE
from tests.bench import ROOT

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}


class Review:
    """Offline reviews of a stack, without an engine and a cloud that runs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
        del project["plugins"]
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project | {"main": str(ROOT)}))
        self.project = Project(folder, folder / "home")
        self.engine = Engine(folder / "pulumi", "3.0.0", "path")
        self.cloud = Cloud(
            home=folder / "home",
            url="https://127.0.0.1:1",
            pid=0,
            tenant="t",
            subscription="s",
            client_id="c",
            client_secret="secret",
            ca_bundle=folder / "ca.pem",
            request_log=folder / "log",
            time_scale=1.0,
        )
        self.steps: list[str] = []
        # What the base's pulumi finds, and what a rehearsal's does.
        self.found: dict[str, str] = {}
        self.rehearsals: dict[str, str] = {}
        monkeypatch.setattr(offline, "start_cloud", lambda *_, **__: self.cloud)
        monkeypatch.setattr(offline, "ensure_helm", lambda _: self.steps.append("helm"))
        monkeypatch.setattr(offline, "ensure_kubernetes", lambda _: SimpleNamespace(folder=folder))
        monkeypatch.setattr(offline, "run", self._bring_up)
        monkeypatch.setattr(offline, "create", lambda *_: None)
        monkeypatch.setattr(offline, "_preflight", lambda *_: None)

    def _bring_up(self, place: Place, *_: str) -> None:
        self.steps.append("up")
        self.found = dict(place.pulumi.environment)
        self.rehearsals = Stage(self.engine, self.cloud, self.project).exports()

    def run(self, base: str | None, now: str) -> None:
        (self.project.program / "Pulumi.dev.yaml").write_text(now)
        review = StackReview(stack="dev")
        with offline.rehearsed(review, self.project, base, self.engine, lambda _: None):
            pass


@pytest.fixture
def review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Review:
    return Review(tmp_path, monkeypatch)


def stack_file(gpu_stack: str) -> str:
    config = {"aks-gpu:gpuPools": [POOL], "aks-gpu:gpuStack": gpu_stack}
    return yaml.safe_dump({"config": config})


OPERATOR, PLUGIN, WRONG = map(stack_file, ("operator", "device-plugin", "nonsense"))


@pytest.mark.parametrize(
    ("base", "now", "needs_helm"),
    [
        (OPERATOR, PLUGIN, True),
        # Previews do not run Helm.
        (PLUGIN, OPERATOR, False),
        (None, OPERATOR, False),
        # It is reported when it is brought up.
        ("config: []", OPERATOR, False),
        (WRONG, OPERATOR, False),
    ],
)
def test_a_base_with_the_gpu_operator_gets_helm_first(
    review: Review, base: str | None, now: str, needs_helm: bool
) -> None:
    """Without a helm on PATH the base failed, also where Helm was built in the cache."""
    review.run(base, now)
    assert review.steps == ["helm"] * needs_helm + ["up"] * (base in (OPERATOR, PLUGIN))


def test_a_base_finds_what_a_rehearsal_finds(review: Review) -> None:
    """It had neither the place of Helm nor the stand-in that signs in to clusters with Entra."""
    review.run(OPERATOR, PLUGIN)
    assert Path(review.found[HELM_VARIABLE]).name == "helm"
    assert review.found == review.rehearsals


def test_a_machine_that_gets_no_helm_reviews_other_stacks(
    review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended the review of all stacks."""

    def no_helm(_: object) -> None:
        raise EngineUnavailableError("install Helm 3")

    monkeypatch.setattr(offline, "ensure_helm", no_helm)
    with pytest.raises(EngineUnavailableError, match="install Helm 3"):
        review.run(OPERATOR, PLUGIN)
    review.run(PLUGIN, OPERATOR)
