"""Getting the binaries of Kubernetes: from those who publish them, or by a build."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup import EngineUnavailableError, ensure, ensure_kubernetes, releases
from machine_setup.errors import SourceUnavailableError
from machine_setup.from_source.programs import CONTROL_PLANE, Programs
from machine_setup.pins import SITES
from machine_setup.releases import fetch_released, released
from machine_setup.versions import ETCD, KUBERNETES, KWOK
from tests.machine_setup.releases import SCRIPT, Site, archive, served
from tests.waiting import PATIENCE

OF_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ALL = {*OF_KUBERNETES, "etcd", "kwok"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


# -- the official binaries

PATHS = {name: f"{name}.tar.gz" for name in ("kubernetes", "etcd", "kwok")}


def publish(site: Site) -> None:
    server = {f"kubernetes/server/bin/{name}": SCRIPT for name in (*OF_KUBERNETES, "kubelet")}
    of_etcd = dict.fromkeys(("etcd/README.md", "etcd/etcd", "../../../escaped"), SCRIPT)
    contents = {"kubernetes": archive(server), "etcd": archive(of_etcd), "kwok": SCRIPT}
    for name, content in contents.items():
        site.publish(name, "linux-x64", PATHS[name], content)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(releases, "machine", lambda: "linux-x64")
    with served(tmp_path, monkeypatch) as site:
        publish(site)
        yield site


def test_the_official_binaries_are_downloaded_once(
    site: Site, cache: Path, messages: list[str]
) -> None:
    assert released(cache, *PATHS) is None
    place = fetch_released(cache, messages.append, *PATHS)
    assert released(cache, *PATHS) == place
    assert {file.name for file in place.iterdir()} == ALL
    for file in place.iterdir():
        assert (file.read_bytes(), file.stat().st_mode & 0o111) == (SCRIPT, 0o111)
    assert not list(cache.parent.rglob("escaped"))
    assert fetch_released(cache, messages.append, *PATHS) == place
    assert site.paths() == list(PATHS.values())
    assert {path.name for path in place.parent.iterdir()} == {place.name, "downloads", "lock"}
    assert list((place.parent / "downloads").iterdir()) == []


@pytest.mark.parametrize("name", PATHS)
def test_a_failed_download_keeps_the_other_binaries(
    site: Site, cache: Path, messages: list[str], name: str
) -> None:
    """kwok came last: its failure threw away what had been fetched and checked before it."""
    content = site.files.pop(PATHS[name])
    with pytest.raises(SourceUnavailableError, match="404"):
        fetch_released(cache, messages.append, *PATHS)
    site.files[PATHS[name]] = content
    fetch_released(cache, messages.append, *PATHS)
    asked = site.paths()
    assert {path: asked.count(path) for path in asked} == {
        path: 1 + (path == PATHS[name]) for path in PATHS.values()
    }


def test_an_archive_without_one_of_the_binaries_is_refused(
    site: Site, cache: Path, messages: list[str]
) -> None:
    lacking = [pin for pin in site.pins() if pin.name != "etcd"]
    site.write(lacking)
    site.publish("etcd", "linux-x64", PATHS["etcd"], archive({"etcd/other": SCRIPT}))
    with pytest.raises(SourceUnavailableError, match="does not contain etcd/etcd"):
        fetch_released(cache, messages.append, *PATHS)


def test_other_systems_than_linux_are_refused(
    messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ensure, "machine", lambda: "darwin-arm64")
    with pytest.raises(EngineUnavailableError, match=r"for Linux only, and .* darwin-arm64"):
        ensure_kubernetes(messages.append)
    assert messages == []


# -- all together


def test_unavailable_binaries_are_one_error_with_all_causes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    for _, variable in SITES.values():
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    with pytest.raises(EngineUnavailableError) as refused:
        ensure_kubernetes(messages.append)
    for word in (
        "1. the official binaries: http://127.0.0.1:1/",
        "2. a build from Go modules: there is no `go` on PATH",
        SITES["kubernetes"][1],
    ):
        assert word in str(refused.value)


def test_built_binaries_are_used_without_a_download(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    place = tmp_path / "built"
    monkeypatch.setattr(Programs, "built", lambda *_: place)
    binaries = ensure_kubernetes(messages.append)
    assert (binaries.folder, binaries.kubectl, binaries.version) == (
        place,
        place / "kubectl",
        KUBERNETES,
    )
    assert messages == []


def test_the_go_modules_have_the_pinned_versions() -> None:
    text = (CONTROL_PLANE.source / "go.mod").read_text()
    required = dict(re.findall(r"^\t(\S+) v(\S+)", text, re.MULTILINE))
    assert required["k8s.io/kubernetes"] == KUBERNETES
    assert required["sigs.k8s.io/kwok"] == KWOK
    assert required["go.etcd.io/etcd/server/v3"] == ETCD
    replaced = re.findall(r"=> k8s\.io/\S+ v(\S+)", text)
    assert set(replaced) == {KUBERNETES.replace("1.", "0.", 1)}


@pytest.mark.engine
@pytest.mark.parametrize("name", sorted(ALL))
def test_the_binaries_print_their_versions(name: str) -> None:
    binaries = ensure_kubernetes()
    words = {"kubectl": ["version", "--client"]}.get(name, ["--version"])
    answer = subprocess.run(
        [binaries.folder / name, *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    version = {"etcd": ETCD, "kwok": KWOK}.get(name, KUBERNETES)
    assert version in answer.stdout
