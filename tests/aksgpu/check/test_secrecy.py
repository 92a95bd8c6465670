"""A kubeconfig's content goes into no message of the check."""

import asyncio
from pathlib import Path

import pytest

from aksgpu.check.api import opened
from aksgpu.check.target import of_file, of_stack
from aksgpu.outcome import Cause, StoppedError
from aksgpu.running import Program

SECRET = "c2VjcmV0LWtleQ"


def test_an_invalid_kubeconfig_stops_the_check_and_is_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(f"users: [{SECRET}\n  x: : {SECRET}")
    with pytest.raises(StoppedError) as error:
        of_file(file)
    assert SECRET not in str(error.value)
    assert [finding.cause for finding in error.value.findings] == [Cause.CLUSTER_UNREACHABLE]


def test_an_unusable_kubeconfig_stops_the_check() -> None:
    user = {"name": "u", "user": {"client-key": "/nonexistent", "client-certificate": "/no"}}
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [user],
    }

    async def look() -> None:
        async with opened(config):
            pass

    with pytest.raises(StoppedError) as error:
        asyncio.run(look())
    assert [finding.cause for finding in error.value.findings] == [Cause.CLUSTER_UNREACHABLE]


@pytest.mark.parametrize("ending", ["exit 1", "echo error: no stack >&2; exit 1", "exit 0"])
def test_output_of_pulumi_is_not_repeated(tmp_path: Path, ending: str) -> None:
    pulumi = tmp_path / "pulumi"
    pulumi.write_text(f"#!/bin/sh\necho '{SECRET}'\n{ending}\n")
    pulumi.chmod(0o700)
    with pytest.raises(StoppedError) as error:
        of_stack(Program((pulumi,), tmp_path), "dev")
    assert SECRET not in str(error.value)
    assert ("no stack" in str(error.value)) == ("no stack" in ending)
