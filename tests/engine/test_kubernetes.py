"""Getting the binaries of Kubernetes: from those who publish them, or by a build."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import json
import re
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine import EngineUnavailableError, ensure_kubernetes, kubernetes, kubernetes_release
from engine.errors import WayClosedError
from engine.kubernetes_build import SOURCE
from engine.kubernetes_release import (
    ETCD_VARIABLE,
    KUBERNETES_VARIABLE,
    KWOK_VARIABLE,
    fetch_folder,
    fetched_folder,
)
from engine.versions import ETCD, KUBERNETES, KWOK

OF_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ALL = {*OF_KUBERNETES, "etcd", "kwok"}
SCRIPT = b"#!/bin/sh\n"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all there is on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


# -- the official binaries


@dataclass
class Site:
    """All the sites in one folder that is served, and the addresses that were asked for."""

    folder: Path
    asked: list[str] = field(default_factory=list)

    def publish(self) -> None:
        kubernetes = self.folder / f"v{KUBERNETES}/bin/linux/amd64"
        kubernetes.mkdir(parents=True)
        for name in OF_KUBERNETES:
            (kubernetes / name).write_bytes(SCRIPT)
            (kubernetes / f"{name}.sha256").write_text(_checksum(kubernetes / name))
        top = f"etcd-v{ETCD}-linux-amd64"
        etcd = self.folder / f"v{ETCD}"
        etcd.mkdir()
        with tarfile.open(etcd / f"{top}.tar.gz", "w:gz") as tar:
            for member in ("README.md", "etcd", "../../../escaped"):
                info = tarfile.TarInfo(f"{top}/{member}")
                info.size = len(SCRIPT)
                tar.addfile(info, io.BytesIO(SCRIPT))
        checksum = _checksum(etcd / f"{top}.tar.gz")
        (etcd / "SHA256SUMS").write_text(f"{checksum}  {top}.tar.gz\n")
        kwok = self.folder / f"v{KWOK}"
        kwok.mkdir()
        (kwok / "kwok-linux-amd64").write_bytes(SCRIPT)
        digest = f"sha256:{_checksum(kwok / 'kwok-linux-amd64')}"
        assets = [{"name": "kwok.yaml"}, {"name": "kwok-linux-amd64", "digest": digest}]
        (kwok / "digests.json").write_text(json.dumps({"assets": assets}))


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site(tmp_path / "site")
    site.folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            site.asked.append(self.path)

    handler = functools.partial(Handler, directory=str(site.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        for variable in (KUBERNETES_VARIABLE, ETCD_VARIABLE, KWOK_VARIABLE):
            monkeypatch.setenv(variable, f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setattr(kubernetes_release, "machine", lambda: "linux-x64")
        yield site
        server.shutdown()


def test_the_official_ones_are_fetched_once(site: Site, cache: Path, said: list[str]) -> None:
    site.publish()
    assert fetched_folder(cache) is None
    place = fetch_folder(cache, said.append)
    assert fetched_folder(cache) == place
    assert {file.name for file in place.iterdir()} == ALL
    for file in place.iterdir():
        assert (file.read_bytes(), file.stat().st_mode & 0o111) == (SCRIPT, 0o111)
    assert not list(cache.parent.rglob("escaped"))
    asked = len(site.asked)
    assert fetch_folder(cache, said.append) == place
    assert len(site.asked) == asked
    assert {path.name for path in place.parent.iterdir()} == {place.name, "lock"}


@pytest.mark.parametrize(
    "path", [f"v{KUBERNETES}/bin/linux/amd64/kubectl", f"v{KWOK}/kwok-linux-amd64"]
)
def test_what_is_not_what_was_published_is_refused(
    site: Site, cache: Path, said: list[str], path: str
) -> None:
    site.publish()
    (site.folder / path).write_bytes(b"something else")
    with pytest.raises(EngineUnavailableError, match="is not what its publisher says it is"):
        fetch_folder(cache, said.append)
    assert fetched_folder(cache) is None
    assert [path.name for path in (cache / "release").iterdir()] == ["lock"]


def test_a_checksum_that_cannot_be_read_closes_the_way(
    site: Site, cache: Path, said: list[str]
) -> None:
    site.publish()
    (site.folder / f"v{KWOK}/digests.json").write_text('{"message": "rate limit"}')
    with pytest.raises(WayClosedError, match="no checksum of kwok-linux-amd64 can be read"):
        fetch_folder(cache, said.append)


def test_a_machine_that_nothing_is_published_for(
    cache: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_release, "machine", lambda: "darwin-arm64")
    with pytest.raises(WayClosedError, match="no control plane for darwin-arm64"):
        fetch_folder(cache, said.append)


# -- all together


def test_where_no_way_leads_anywhere_all_of_them_are_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    for variable in (KUBERNETES_VARIABLE, ETCD_VARIABLE, KWOK_VARIABLE):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    with pytest.raises(EngineUnavailableError) as refused:
        ensure_kubernetes(said.append)
    for word in (
        "1. the official binaries: http://127.0.0.1:1/",
        "2. a build from Go modules: there is no `go` on PATH",
        KUBERNETES_VARIABLE,
    ):
        assert word in str(refused.value)


def test_what_was_built_is_not_looked_for_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    place = tmp_path / "built"
    monkeypatch.setattr(kubernetes, "built_folder", lambda _: place)
    found = ensure_kubernetes(said.append)
    assert (found.folder, found.kubectl, found.version) == (place, place / "kubectl", KUBERNETES)
    assert said == []


def test_the_modules_are_those_of_the_versions() -> None:
    required = dict(re.findall(r"^\t(\S+) v(\S+)", (SOURCE / "go.mod").read_text(), re.MULTILINE))
    assert required["k8s.io/kubernetes"] == KUBERNETES
    assert required["sigs.k8s.io/kwok"] == KWOK
    assert required["go.etcd.io/etcd/server/v3"] == ETCD
    replaced = re.findall(r"=> k8s\.io/\S+ v(\S+)", (SOURCE / "go.mod").read_text())
    assert set(replaced) == {KUBERNETES.replace("1.", "0.", 1)}


@pytest.mark.engine
@pytest.mark.parametrize("name", sorted(ALL))
def test_this_machines_binaries_say_their_versions(name: str) -> None:
    found = ensure_kubernetes()
    words = {"kubectl": ["version", "--client"]}.get(name, ["--version"])
    answer = subprocess.run(
        [found.folder / name, *words], capture_output=True, text=True, check=True, timeout=60
    )
    version = {"etcd": ETCD, "kwok": KWOK}.get(name, KUBERNETES)
    assert version in answer.stdout
