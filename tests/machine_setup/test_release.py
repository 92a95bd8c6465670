"""Fetching the release, from a site on the loopback address."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup.cache import machine
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.releases import fetch_released, released
from machine_setup.versions import PULUMI
from tests.machine_setup.releases import SCRIPT, Site, archive, served

EXECUTABLES = ("pulumi/pulumi", "pulumi/pulumi-language-python")
PATH = f"v{PULUMI}/pulumi.tar.gz"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with served(tmp_path, monkeypatch) as site:
        yield site


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def publish(site: Site, members: tuple[str, ...] = EXECUTABLES) -> None:
    content = archive(dict.fromkeys(members, SCRIPT))
    site.publish("pulumi", machine(), PATH, content)


def leftovers(cache: Path) -> list[str]:
    names = ("release", "downloads", "lock")
    return [file.name for file in cache.rglob("*") if file.name not in names]


def test_a_valid_release_is_installed_once(site: Site, cache: Path, messages: list[str]) -> None:
    publish(site)
    assert released(cache, "pulumi") is None

    place = fetch_released(cache, messages.append, "pulumi")

    assert released(cache, "pulumi") == place
    assert (place / "pulumi-language-python").stat().st_mode & 0o100
    assert sorted(leftovers(cache)) == ["pulumi", f"pulumi-{PULUMI}", "pulumi-language-python"]
    assert fetch_released(cache, messages.append, "pulumi") == place
    assert site.paths() == [PATH]


def test_a_file_with_another_checksum_is_refused_and_deleted(
    site: Site, cache: Path, messages: list[str]
) -> None:
    publish(site)
    site.files[PATH] += b" "

    with pytest.raises(EngineUnavailableError, match=r"does not match tools/.*pins\.csv"):
        fetch_released(cache, messages.append, "pulumi")

    assert leftovers(cache) == []


def test_a_member_outside_of_the_archive_is_left_out(
    site: Site, cache: Path, messages: list[str], tmp_path: Path
) -> None:
    publish(site, (*EXECUTABLES, "../../../escaped", "pulumi/../../other"))

    place = fetch_released(cache, messages.append, "pulumi")

    assert not list(tmp_path.rglob("escaped"))
    assert {file.parent for file in tmp_path.rglob("other")} == {place}


def test_an_archive_without_language_host_is_refused(
    site: Site, cache: Path, messages: list[str]
) -> None:
    publish(site, ("pulumi/pulumi",))

    with pytest.raises(
        SourceUnavailableError, match="does not contain pulumi/pulumi-language-python"
    ):
        fetch_released(cache, messages.append, "pulumi")

    assert released(cache, "pulumi") is None


def test_a_full_disk_is_reported_instead_of_starting_a_build(
    site: Site, cache: Path, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(site)
    downloads = cache / "release" / "downloads"
    downloads.mkdir(parents=True)
    [pin] = site.pins()
    (downloads / f"{pin.digest[-16:]}-{pin.file}.part").symlink_to("/dev/full")

    with pytest.raises(EngineUnavailableError, match="is full"):
        fetch_released(cache, messages.append, "pulumi")


def test_old_unused_files_are_removed_after_a_download(
    site: Site, cache: Path, messages: list[str]
) -> None:
    """The cache only grew. Another checkout may be at another version, and use counts."""
    publish(site)
    release = cache / "release"
    for name, days in (("pulumi-1.0", 31), ("pulumi-2.0", 29), ("kubernetes-1.0", 31)):
        place = release / name
        place.mkdir(parents=True)
        (place / "pulumi").touch()
        then = place.stat().st_mtime - days * 24 * 60 * 60
        os.utime(place, (then, then))

    fetch_released(cache, messages.append, "pulumi")

    kept = {path.name for path in release.iterdir()}
    assert kept == {f"pulumi-{PULUMI}", "pulumi-2.0", "kubernetes-1.0", "downloads", "lock"}


def test_a_used_release_is_not_removed_as_old(site: Site, cache: Path, messages: list[str]) -> None:
    publish(site)
    place = fetch_released(cache, messages.append, "pulumi")
    os.utime(place, (0, 0))

    released(cache, "pulumi")

    assert place.stat().st_mtime > 1e9
