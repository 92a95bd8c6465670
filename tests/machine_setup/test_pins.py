"""The table of pins, what is fetched by it, and how it is written anew."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machine_setup import pins
from machine_setup.cache import machine, sole_use, user_cache
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.pins import SITES, TABLE, VERSIONS, Pin, fetch, pin_of, renew
from machine_setup.progress import Progress, to_stderr
from machine_setup.versions import PROVIDERS
from tests.machine_setup.releases import Site, served

CONTENT = bytes(range(256)) * 20


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with served(tmp_path, monkeypatch) as site:
        yield site


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    return tmp_path / "downloads"


@pytest.fixture
def pin(site: Site) -> Pin:
    return site.publish("kwok", "linux-x64", "v1/kwok", CONTENT)


def test_every_archive_of_every_platform_has_a_digest() -> None:
    """A digest that came along with the archive said only that both had one author."""
    platforms = defaultdict(set)
    for pin in pins.pins(TABLE):
        assert pin.version == VERSIONS[pin.name], "make pins"
        unread = "|" if pin.name in PROVIDERS else ""
        assert re.fullmatch(rf"sha256:[0-9a-f]{{64}}|sha512:[0-9a-f]{{128}}{unread}", pin.digest)
        assert pin.version in pin.path
        platforms[pin.name].add(pin.platform)

    linux = {"linux-x64", "linux-arm64"}
    assert platforms == {
        "pulumi": linux | {"darwin-x64", "darwin-arm64"},
        "kubernetes": linux,
        "etcd": linux,
        "kwok": linux,
        "kubelogin": linux,
        **dict.fromkeys(PROVIDERS, linux),
    }
    assert set(SITES) == set(VERSIONS) == set(platforms)


def test_a_file_without_a_pin_is_not_downloaded() -> None:
    with pytest.raises(SourceUnavailableError, match=r"has no kwok .* for plan9-mips"):
        pin_of("kwok", "plan9-mips")


def test_cached_files_are_not_downloaded_again(
    site: Site, pin: Pin, downloads: Path, messages: list[str]
) -> None:
    file = fetch(pin, downloads, messages.append)

    assert file.read_bytes() == CONTENT
    assert fetch(pin, downloads, messages.append) == file
    assert site.paths() == [pin.path]
    assert messages[0].startswith("Downloading kwok"), "from the first second on"


def test_a_checksum_from_a_mirror_is_not_used(
    site: Site, pin: Pin, downloads: Path, messages: list[str]
) -> None:
    """What a mirror had replaced was taken, as long as it replaced the checksum too."""
    other = b"something else"
    site.files |= {
        pin.path: other,
        f"{pin.path}.sha256": hashlib.sha256(other).hexdigest().encode(),
    }

    with pytest.raises(EngineUnavailableError, match=r"does not match tools/.*pins\.csv"):
        fetch(pin, downloads, messages.append)

    assert list(downloads.iterdir()) == []
    assert site.paths() == [pin.path]


@settings(max_examples=30, deadline=None)
@given(troubles=st.lists(st.sampled_from([408, 429, 500, 502, 503, 504, 0, 1, 399]), max_size=4))
def test_a_broken_download_is_resumed(
    tmp_path_factory: pytest.TempPathFactory, troubles: list[int]
) -> None:
    """One answer of 503 sent a new machine to build Kubernetes for minutes."""
    folder = tmp_path_factory.mktemp("trouble")
    with pytest.MonkeyPatch.context() as patch, served(folder, patch) as site:
        pin = site.publish("kwok", "linux-x64", "v1/kwok", CONTENT)
        site.troubles = list(troubles)

        assert fetch(pin, folder / "downloads", to_stderr).read_bytes() == CONTENT

        assert len(site.asked) == len(troubles) + 1
        got = sum(trouble for trouble in troubles if trouble < 400)
        assert site.asked[-1][1] == (f"bytes={got}-" if got else None)


def test_a_partial_download_that_is_too_long_is_deleted(
    pin: Pin, downloads: Path, messages: list[str]
) -> None:
    downloads.mkdir()
    part = pins.cached_path(pin, downloads)
    part.with_name(f"{part.name}.part").write_bytes(CONTENT * 2)

    assert fetch(pin, downloads, messages.append).read_bytes() == CONTENT


def test_a_cached_file_that_a_crash_has_damaged_is_downloaded_again(
    pin: Pin, downloads: Path, messages: list[str]
) -> None:
    """It was refused by whatever unpacked it, in every run from then on."""
    downloads.mkdir()
    pins.cached_path(pin, downloads).write_bytes(b"")

    assert fetch(pin, downloads, messages.append).read_bytes() == CONTENT


@pytest.mark.parametrize(("status", "tries"), [(503, 5), (404, 1), (403, 1)])
def test_a_download_fails_after_several_attempts(
    site: Site, pin: Pin, downloads: Path, messages: list[str], status: int, tries: int
) -> None:
    site.troubles = [status] * 20

    with pytest.raises(SourceUnavailableError, match=str(status)):
        fetch(pin, downloads, messages.append)

    assert len(site.asked) == tries


def test_a_full_disk_is_not_reported_as_a_failed_download(
    pin: Pin, downloads: Path, messages: list[str]
) -> None:
    """It was taken for a download that failed, and a build began, which needs more room."""
    downloads.mkdir()
    part = pins.cached_path(pin, downloads)
    part.with_name(f"{part.name}.part").symlink_to("/dev/full")

    with pytest.raises(OSError, match="No space left on device"):
        fetch(pin, downloads, messages.append)


@pytest.fixture
def publisher(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The site in the place of the publishers themselves, and of no mirror."""
    own = {name: (os.environ[variable], variable) for name, (_, variable) in SITES.items()}
    for _, variable in own.values():
        monkeypatch.delenv(variable)
    monkeypatch.setattr(pins, "SITES", own)
    return site


def test_a_mirror_cannot_renew_the_pins(site: Site, messages: list[str]) -> None:
    """Archive and checksums came from the same mirror, and their digests into the table."""
    site.write([])
    with pytest.raises(EngineUnavailableError, match=r"Unset AKS_GPU_PULUMI_RELEASES, .*vouch"):
        renew(site.table, messages.append)


def test_a_full_disk_does_not_change_the_table(publisher: Site, messages: list[str]) -> None:
    publisher.write([])
    draft = publisher.table.with_name(f"{publisher.table.name}.draft")
    draft.symlink_to("/dev/full")
    with pytest.raises(EngineUnavailableError, match="No space left on device"):
        renew(publisher.table, messages.append)


def test_the_table_is_renewed_for_new_versions(
    publisher: Site, monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    def sha(content: bytes) -> str:
        return hashlib.sha256(content).hexdigest()

    publisher.write(
        [
            Pin("etcd", "1.0", "linux-x64", "v1.0/etcd-1.0.tgz", "sha256:old", "v1.0/SUMS"),
            Pin("kubernetes", "2.0", machine(), "v2.0/all", "sha512:old", "v2.0/all.sha512"),
            Pin("kwok", "3.0", "linux-x64", "v3.0/kwok", "sha256:old", ""),
        ]
    )
    monkeypatch.setattr(pins, "VERSIONS", {"etcd": "1.1", "kubernetes": "2.1", "kwok": "3.0"})
    publisher.files = {
        "v1.1/etcd-1.1.tgz": b"etcd",
        "v1.1/SUMS": f"{sha(b'x')}  other.tgz\n{sha(b'etcd')} *etcd-1.1.tgz\n".encode(),
        "v2.1/all": b"kubernetes",
        "v2.1/all.sha512": hashlib.sha512(b"kubernetes").hexdigest().encode(),
        "v3.0/kwok": b"kwok",
    }

    renew(publisher.table, messages.append)

    assert publisher.pins() == [
        Pin("etcd", "1.1", "linux-x64", "v1.1/etcd-1.1.tgz", f"sha256:{sha(b'etcd')}", "v1.1/SUMS"),
        Pin(
            "kubernetes", "2.1", machine(), "v2.1/all",
            f"sha256:{sha(b'kubernetes')}", "v2.1/all.sha512",
        ),
        Pin("kwok", "3.0", "linux-x64", "v3.0/kwok", f"sha256:{sha(b'kwok')}", ""),
    ]  # fmt: skip
    assert "kwok publishes no checksums: compare kwok with its release page." in messages


def test_a_provider_whose_release_cannot_be_read_has_no_digest(
    publisher: Site, monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    """A new version of it keeps no digest of the old one; every other program needs its own."""
    row = Pin("pulumi-kubernetes", "1", "linux-x64", "v1/plugin-v1.tgz", "sha256:old", "v1/SUMS")
    monkeypatch.setattr(pins, "VERSIONS", {"pulumi-kubernetes": "2", "etcd": "2"})
    publisher.write([row])
    renew(publisher.table, messages.append)
    unread = Pin("pulumi-kubernetes", "2", "linux-x64", "v2/plugin-v2.tgz", "", "v2/SUMS")
    assert publisher.pins() == [unread]
    assert "plugin-v2.tgz has no digest" in messages[-1]

    publisher.write([replace(row, name="etcd")])
    with pytest.raises(SourceUnavailableError, match="404"):
        renew(publisher.table, messages.append)


@pytest.mark.parametrize("sums", [b"", b"0" * 64, b"0" * 64 + b"  etcd.tgz", b"<html>"])
def test_contradicting_checksums_do_not_change_the_table(
    publisher: Site, monkeypatch: pytest.MonkeyPatch, messages: list[str], sums: bytes
) -> None:
    publisher.write([Pin("etcd", "1", "linux-x64", "v1/etcd.tgz", "sha256:old", "v1/SUMS")])
    before = publisher.table.read_bytes()
    monkeypatch.setattr(pins, "VERSIONS", {"etcd": "1"})
    publisher.files = {"v1/etcd.tgz": b"etcd", "v1/SUMS": sums}

    with pytest.raises(EngineUnavailableError, match="SUMS has"):
        renew(publisher.table, messages.append)

    assert publisher.table.read_bytes() == before


def test_an_unwritable_cache_is_reported(tmp_path: Path, messages: list[str]) -> None:
    """It ended with a traceback."""
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "engine"):
        refusal = pytest.raises(
            EngineUnavailableError, match=r"cannot be written: .*XDG_CACHE_HOME"
        )
        with refusal, sole_use(folder, messages.append):
            pass


def test_a_user_without_a_home_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container with an arbitrary user, it ended with a traceback."""

    def nobody(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    with pytest.raises(EngineUnavailableError, match="set HOME or XDG_CACHE_HOME"):
        user_cache()
    monkeypatch.setenv("HOME", "relative")
    assert user_cache().is_absolute()


def test_progress_is_shown_at_once(messages: list[str]) -> None:
    with Progress("Fetching", messages.append):
        assert messages == ["Fetching ..."]
