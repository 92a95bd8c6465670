"""Programs that sign a user in: what they give is used, and what goes wrong with them is named."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kube_client import login
from kube_client.login import LoginError, signed_in

SECRET = "c2VjcmV0LWtleQ"
CREDENTIAL = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential"}


def program(folder: Path, script: str) -> dict[str, Any]:
    """A user whose program is a shell script."""
    file = folder / "kubelogin"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o700)
    exec_config = {
        "command": "kubelogin",
        "args": ["get-token", "--client-secret", SECRET],
        "env": None,
    }
    return {"exec": {"apiVersion": CREDENTIAL["apiVersion"], **exec_config}}


def result(user: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "SAID": "by the caller"}
    return asyncio.run(signed_in(user, environment))


def test_a_user_without_exec_is_unchanged(tmp_path: Path) -> None:
    assert result({"token": "t"}, tmp_path) == {"token": "t"}


def test_a_token_of_an_exec_program_is_used(tmp_path: Path) -> None:
    answer = json.dumps({**CREDENTIAL, "status": {"token": "t"}})
    asked = 'echo "$SAID $* $KUBERNETES_EXEC_INFO" >asked'
    user = program(tmp_path, f"cd {tmp_path}; {asked}; echo '{answer}'")
    assert result(user, tmp_path) == {"token": "t"}
    arguments = (tmp_path / "asked").read_text()
    assert arguments.startswith("by the caller get-token --client-secret")
    assert '"interactive": false' in arguments


def test_a_certificate_of_an_exec_program_is_used(tmp_path: Path) -> None:
    status = {"clientCertificateData": "a", "clientKeyData": "b"}
    user = program(tmp_path, f"echo '{json.dumps({**CREDENTIAL, 'status': status})}'")
    assert result(user, tmp_path) == {"client-certificate-data": "YQ==", "client-key-data": "Yg=="}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo first >&2; echo AADSTS700016: not found >&2; exit 1", "code 1: AADSTS700016: not"),
        ("exit 2", "ended with exit code 2: it printed no error"),
        ("echo nothing", "printed no credentials"),
        ("echo '{}'", "printed no credentials"),
        ('echo \'{"status": {"clientKeyData": "b"}}\'', "printed no credentials"),
        ("sleep 20", "AAD_LOGIN_METHOD"),
    ],
)
def test_errors_of_an_exec_program_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    """The check and the provider said 401: the official client goes on without credentials."""
    if "sleep" in script:
        monkeypatch.setattr(login, "_SECONDS", 0.2)
    with pytest.raises(LoginError, match=message) as raised:
        result(program(tmp_path, f"{script}"), tmp_path)
    assert "`kubelogin`" in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_missing_exec_program_is_named(tmp_path: Path) -> None:
    user = program(tmp_path, "")
    (tmp_path / "kubelogin").unlink()
    with pytest.raises(LoginError, match=r"`kubelogin`, which signs in .* no such file"):
        result(user, tmp_path)


@pytest.mark.parametrize(
    "exec_config", [{"command": "kubelogin"}, ["kubelogin"], {"apiVersion": "v1"}]
)
def test_a_malformed_exec_is_refused(tmp_path: Path, exec_config: Any) -> None:
    with pytest.raises(LoginError, match="exec is malformed"):
        result({"exec": exec_config}, tmp_path)
