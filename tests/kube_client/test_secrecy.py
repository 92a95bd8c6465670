"""A kubeconfig's content goes into no message, and into no file that others can read."""

import asyncio
import base64
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from kubernetes.aio import config as aio_config

from kube_client.kubeconfig import KubeconfigError, choose, connect, parse, read

SECRET = "c2VjcmV0LWtleQ"


def config(**user: str) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": user}],
    }


@pytest.mark.parametrize(
    "text",
    [f"users: [{SECRET}\n  x: : {SECRET}", SECRET, f"- {SECRET}", f"\t{SECRET}: {{", ""],
)
def test_an_invalid_kubeconfig_is_not_repeated(text: str) -> None:
    with pytest.raises(KubeconfigError) as error:
        choose(parse(text))
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    "user",
    [
        {"client-certificate-data": SECRET + "!", "client-key-data": SECRET},
        {"client-certificate-data": SECRET + "==", "client-key-data": SECRET + "=="},
        {"client-key": "/nonexistent", "client-certificate": "/nonexistent"},
        {"tokenFile": "/nonexistent"},
    ],
)
def test_an_unusable_kubeconfig_is_not_repeated(user: dict[str, str]) -> None:
    with pytest.raises(KubeconfigError) as error:
        asyncio.run(connect(choose(config(**user))))
    assert SECRET not in str(error.value)
    assert "secret-key" not in str(error.value)


def test_only_the_user_can_read_the_files_and_they_are_deleted_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes: list[int] = []

    def made(config: dict[str, Any], temp_file_path: str) -> Any:
        modes.append(stat.S_IMODE(Path(temp_file_path).stat().st_mode))
        content = Path(config["users"][0]["user"]["client-key"])
        assert content.parent == Path(temp_file_path)
        assert content.read_bytes() == b"secret-key"
        raise OSError(content.read_text())

    monkeypatch.setattr(aio_config, "new_client_from_config_dict", made)
    data = base64.b64encode(b"secret-key").decode()
    with pytest.raises(KubeconfigError) as error:
        asyncio.run(connect(choose(config(**{"client-key-data": data}))))
    assert modes == [0o700]
    assert list(tmp_path.iterdir()) == []
    assert "secret-key" not in str(error.value)


def test_paths_in_a_kubeconfig_are_relative_to_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("clusters: []\nusers: [{name: u, user: {client-key: keys/own.pem}}]")
    config = read(file)
    assert config["users"][0]["user"]["client-key"] == str(tmp_path / "keys" / "own.pem")
