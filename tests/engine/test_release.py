"""Fetching the release, from a site on the loopback address."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.cache import machine
from engine.errors import EngineUnavailableError, WayClosedError
from engine.release import RELEASES_VARIABLE, fetch_release, released_engine
from engine.versions import PULUMI

EXECUTABLES = ("pulumi/pulumi", "pulumi/pulumi-language-python")


@dataclass
class Site:
    """A site of releases: a folder that is served, and the addresses that were asked for."""

    folder: Path
    asked: list[str] = field(default_factory=list)

    def publish(self, members: tuple[str, ...] = EXECUTABLES, checksum: str = "") -> None:
        """Publish an archive of shell scripts, with its own checksum or a given one."""
        archive = self.folder / f"pulumi-v{PULUMI}-{machine()}.tar.gz"
        script = b"#!/bin/sh\n"
        with tarfile.open(archive, "w:gz") as tar:
            for name in members:
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(script), 0o755
                tar.addfile(member, io.BytesIO(script))
        checksum = checksum or hashlib.sha256(archive.read_bytes()).hexdigest()
        (self.folder / f"pulumi-{PULUMI}-checksums.txt").write_text(
            f"{'0' * 64}  pulumi-v{PULUMI}-other.tar.gz\n{checksum}  {archive.name}\n"
        )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    root = tmp_path / "site"
    site = Site(root / f"v{PULUMI}")
    site.folder.mkdir(parents=True)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            site.asked.append(self.path)

    handler = functools.partial(Handler, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv(RELEASES_VARIABLE, f"http://127.0.0.1:{server.server_port}")
        yield site
        server.shutdown()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def leftovers(cache: Path) -> list[str]:
    return [file.name for file in cache.rglob("*") if file.name not in ("release", "lock")]


def test_good_release_is_installed_and_not_fetched_again(
    site: Site, cache: Path, said: list[str]
) -> None:
    site.publish()
    assert released_engine(cache) is None

    pulumi = fetch_release(cache, said.append)

    assert released_engine(cache) == pulumi
    assert (pulumi.parent / "pulumi-language-python").stat().st_mode & 0o100
    assert sorted(leftovers(cache)) == ["pulumi", f"pulumi-{PULUMI}", "pulumi-language-python"]
    asked = len(site.asked)
    assert fetch_release(cache, said.append) == pulumi
    assert len(site.asked) == asked == 2


@pytest.mark.parametrize("checksum", ["1" * 64, "sha256-unknown"])
def test_wrong_checksum_is_refused_and_leaves_nothing(
    site: Site, cache: Path, said: list[str], checksum: str
) -> None:
    site.publish(checksum=checksum)

    with pytest.raises(EngineUnavailableError, match=checksum):
        fetch_release(cache, said.append)

    assert leftovers(cache) == []


def test_unlisted_archive_is_refused(site: Site, cache: Path, said: list[str]) -> None:
    site.publish()
    (site.folder / f"pulumi-{PULUMI}-checksums.txt").write_text("")

    with pytest.raises(EngineUnavailableError, match="none is published"):
        fetch_release(cache, said.append)

    assert leftovers(cache) == []


def test_member_outside_of_the_archive_is_refused(
    site: Site, cache: Path, said: list[str], tmp_path: Path
) -> None:
    site.publish((*EXECUTABLES, "../../../escaped"))

    with pytest.raises(WayClosedError, match="cannot be unpacked"):
        fetch_release(cache, said.append)

    assert leftovers(cache) == []
    assert not list(tmp_path.rglob("escaped"))


def test_archive_without_language_host_is_of_no_use(
    site: Site, cache: Path, said: list[str]
) -> None:
    site.publish(("pulumi/pulumi",))

    with pytest.raises(WayClosedError, match="holds no pulumi/pulumi-language-python"):
        fetch_release(cache, said.append)

    assert leftovers(cache) == []


def test_missing_release_closes_the_way(site: Site, cache: Path, said: list[str]) -> None:
    with pytest.raises(WayClosedError, match="404"):
        fetch_release(cache, said.append)

    assert leftovers(cache) == []
