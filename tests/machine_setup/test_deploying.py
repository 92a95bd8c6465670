"""What a job with credentials runs, from a site on the loopback address."""

import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup.cache import machine
from machine_setup.deploying import deployment_tools
from machine_setup.errors import EngineUnavailableError
from machine_setup.pins import Pin
from machine_setup.versions import KUBELOGIN, PROVIDERS, PULUMI
from tests.machine_setup.releases import SCRIPT, Site, archive, served

# Notes how it was called, as a pulumi that installs plug-ins.
PULUMI_STAND_IN = b'#!/bin/sh\necho "$@" >> "${0%/*}/called"\n'
GO = {"x64": "amd64", "arm64": "arm64"}[machine().partition("-")[2]]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with served(tmp_path, monkeypatch) as site:
        members = {"pulumi/pulumi": PULUMI_STAND_IN, "pulumi/pulumi-language-python": SCRIPT}
        site.publish("pulumi", machine(), f"v{PULUMI}/pulumi.tar.gz", archive(members))
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as zipped:
            zipped.writestr(f"bin/linux_{GO}/kubelogin", SCRIPT)
        path = f"v{KUBELOGIN}/kubelogin-linux-{GO}.zip"
        site.publish("kubelogin", machine(), path, content.getvalue())
        yield site


def unread(name: str) -> Pin:
    return Pin(name, PROVIDERS[name], machine(), f"v1/{name}.tar.gz", "", "")


def test_the_pinned_pulumi_runs_whatever_the_runner_has(
    site: Site, folder: Path, messages: list[str]
) -> None:
    """The pulumi of GitHub's image ran the deployments: it was newer, and first on PATH."""
    for name in ("pulumi", "pulumi-language-python", "kubelogin"):
        (folder / name).write_text("#!/bin/sh\necho v3.999.0\n")
        (folder / name).chmod(0o755)
    site.write([*site.pins(), *map(unread, PROVIDERS)])

    pulumi, kubelogin = deployment_tools(messages.append)

    assert pulumi.name == f"pulumi-{PULUMI}"
    assert (kubelogin / "kubelogin").read_bytes() == SCRIPT
    assert (kubelogin / "kubelogin").stat().st_mode & 0o100


def test_a_provider_without_a_digest_is_told_and_one_with_it_is_checked(
    site: Site, messages: list[str]
) -> None:
    """Pulumi fetches the two programs that get the credentials by their version alone."""
    site.publish("pulumi-azure-native", machine(), "v1/azure-native.tar.gz", b"plug-in")
    site.write([*site.pins(), unread("pulumi-kubernetes")])

    pulumi, _ = deployment_tools(messages.append)

    azure_native, kubernetes = (pulumi / "called").read_text().splitlines()
    version = PROVIDERS["pulumi-azure-native"]
    install = f"plugin install resource azure-native {version} --reinstall --file "
    assert azure_native.startswith(install)
    assert Path(azure_native.removeprefix(install)).read_bytes() == b"plug-in"
    version = PROVIDERS["pulumi-kubernetes"]
    assert kubernetes == f"plugin install resource kubernetes {version} --reinstall"
    [warning] = [line for line in messages if line.startswith("::warning::")]
    assert "no digest for pulumi-kubernetes.tar.gz" in warning

    site.files["v1/azure-native.tar.gz"] = b"something else"
    for file in pulumi.parent.glob("downloads/*native*"):
        file.unlink()
    with pytest.raises(EngineUnavailableError, match=r"does not match tools/.*pins\.csv"):
        deployment_tools(messages.append)


@pytest.mark.parametrize("missing", ["pulumi", "kubelogin", "pulumi-kubernetes"])
def test_what_has_no_pin_does_not_run(site: Site, messages: list[str], missing: str) -> None:
    rows = [*site.pins(), *map(unread, PROVIDERS)]
    site.write([row for row in rows if row.name != missing])

    with pytest.raises(EngineUnavailableError, match=f"{missing} .* docs/set-up.md"):
        deployment_tools(messages.append)


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_an_archive_without_kubelogin_is_refused(
    site: Site, messages: list[str], content: bytes
) -> None:
    site.write([row for row in site.pins() if row.name != "kubelogin"])
    site.publish("kubelogin", machine(), f"v{KUBELOGIN}/kubelogin-linux-{GO}.zip", content)

    with pytest.raises(EngineUnavailableError, match="cannot be unpacked"):
        deployment_tools(messages.append)


def test_the_command_prints_folders_for_path(site: Site) -> None:
    """Its output is what a job appends to GITHUB_PATH: nothing else may be in it."""
    site.write([*site.pins(), *map(unread, PROVIDERS)])
    look = (
        "import pathlib, runpy, sys; from machine_setup import pins; "
        f"pins.TABLE = pathlib.Path({str(site.table)!r}); "
        "sys.argv[1:] = ['deploying']; runpy.run_module('machine_setup', run_name='__main__')"
    )
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    pulumi, kubelogin = map(Path, ended.stdout.splitlines())
    assert (pulumi / "pulumi").exists()
    assert (kubelogin / "kubelogin").exists()
    assert ended.stderr.count("::warning::") == len(PROVIDERS)
