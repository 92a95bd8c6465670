"""Signing in of a job, with a stand-in for GitHub and the rehearsal's own login, or none."""

import base64
import http.server
import itertools
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aksgpu.ci import azure

CLAIMS = base64.urlsafe_b64encode(b'{"sub": "repo:o/r:environment:dev"}').decode().rstrip("=")
STACK_FILE = "secretsprovider: azurekeyvault://ours.vault.azure.net/keys/dev\nconfig: {}\n"


class GitHub(http.server.BaseHTTPRequestHandler):
    """Gives a job its tokens, each with a number."""

    given = 0

    def do_GET(self) -> None:
        refused = self.headers["Authorization"] != "Bearer job"
        type(self).given += 1
        body = json.dumps({"value": f"header.{CLAIMS}.{self.given}"}).encode()
        self.send_response(403 if refused else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment of a job in a checkout of its own."""
    monkeypatch.chdir(tmp_path)
    Path("Pulumi.yaml").write_text("name: x\n")
    Path("Pulumi.dev.yaml").write_text(STACK_FILE)
    handler = type("Handler", (GitHub,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield {
            "AZURE_CLIENT_ID": "client",
            "AZURE_TENANT_ID": "tenant",
            "AZURE_SUBSCRIPTION_ID": "subscription",
            "PULUMI_BACKEND_URL": "azblob://STACK?storage_account=ours",
            "STACK": "dev",
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"http://127.0.0.1:{server.server_port}/?api=1",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job",
        }
        server.shutdown()
        thread.join()


class Azure:
    """Answers with a status by host; what is not named succeeds."""

    def __init__(self) -> None:
        self.statuses: dict[str, int] = {}
        self.groups: list[object] = [{}]
        self.asked: list[str] = []

    def send(self, address: str, *rest: Any) -> tuple[int, dict[str, Any]]:
        if "127.0.0.1" in address:
            return REAL_SEND(address, *rest)
        host = address.split("/")[2]
        method = rest[2] if len(rest) > 2 else "POST" if len(rest) > 1 else "GET"
        self.asked.append(f"{method} {address}")
        return self.statuses.get(host, 200), {
            "access_token": "token",
            "error_codes": [700213],
            "value": self.groups,
        }


REAL_SEND = azure.send


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Azure:
    cloud = Azure()
    monkeypatch.setattr(azure, "send", cloud.send)
    return cloud


def python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


@pytest.mark.parametrize("missing", azure.VARIABLES)
def test_a_variable_that_is_not_set_is_named(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str], missing: str
) -> None:
    """The job went on with an empty tenant, and Pulumi asked for a login after minutes."""
    assert azure.main(["plan", "false"], {**job, missing: ""}) == 2

    [line] = capfd.readouterr().out.splitlines()
    assert line.startswith(f"::error::The variable {missing} is not set")
    assert line.endswith(" See docs/ci.md.")
    assert cloud.asked == []


def test_a_command_runs_with_what_backend_key_kubelogin_and_providers_read(
    job: dict[str, str], cloud: Azure, tmp_path: Path
) -> None:
    """Clusters with Entra could not be deployed: no job signed in to them."""
    script = (
        "import os, pathlib; names = ['AAD_LOGIN_METHOD', 'ARM_CLIENT_ID', 'PULUMI_BACKEND_URL'];"
        "token = pathlib.Path(os.environ['AZURE_FEDERATED_TOKEN_FILE']);"
        "said = [token.read_text(), oct(token.stat().st_mode), *(os.environ[n] for n in names)];"
        "pathlib.Path('said').write_text('\\n'.join(said)); raise SystemExit(7)"
    )
    assert azure.main(["deploy", *python(script)], job) == 7

    said = (tmp_path / "said").read_text().splitlines()
    backend = "azblob://dev?storage_account=ours"
    assert said == [f"header.{CLAIMS}.1", "0o100600", "workloadidentity", "client", backend]


def test_tokens_renew_while_a_command_runs(
    job: dict[str, str], cloud: Azure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update that took more than an hour could not write its state any more."""
    monkeypatch.setattr(azure, "RENEWED_AFTER_SECONDS", 0.05)
    script = (
        "import os, pathlib, time; file = pathlib.Path(os.environ['AZURE_FEDERATED_TOKEN_FILE']);"
        "seen = set(); end = time.time() + 20\n"
        "while len(seen) < 4 and time.time() < end: seen.add(file.read_text())\n"
        "pathlib.Path('seen').write_text(str(len(seen)))"
    )
    assert azure.main(["deploy", *python(script)], job) == 0
    assert (tmp_path / "seen").read_text() == "4"


def test_a_renewal_that_fails_is_tried_again(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(azure, "RENEWED_AFTER_SECONDS", 0.02)
    real = azure._github_token
    calls = itertools.count(1)

    def troubled(environment: dict[str, str]) -> str:
        if next(calls) == 2:
            raise azure.AccessError("GitHub is away.")
        return real(environment)

    monkeypatch.setattr(azure, "_github_token", troubled)
    script = (
        "import os, pathlib, time; file = pathlib.Path(os.environ['AZURE_FEDERATED_TOKEN_FILE']);"
        "first = file.read_text(); end = time.time() + 20\n"
        "while file.read_text() == first and time.time() < end: time.sleep(0.01)\n"
        "raise SystemExit(file.read_text() == first)"
    )
    assert azure.main(["plan", *python(script)], job) == 0
    assert "will be tried again: GitHub is away." in capfd.readouterr().err


def test_nothing_is_written_after_the_command(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The job ended with "Directory not empty": the token was renewed while its folder went."""
    monkeypatch.setattr(azure, "RENEWED_AFTER_SECONDS", 0.02)
    is_renewing, has_ended, threads = threading.Event(), threading.Event(), []

    def late(environment: dict[str, str]) -> str:
        if threading.current_thread() is not threading.main_thread():
            threads.append(threading.current_thread())
            is_renewing.set()
            has_ended.wait(20)
        return "token"

    monkeypatch.setattr(azure, "_github_token", late)
    monkeypatch.setattr(azure, "_require_roles", lambda *_: None)
    script = "import time; time.sleep(0.3)"
    assert azure.main(["deploy", *python(script)], job) == 0
    has_ended.set()
    for thread in threads:
        thread.join(20)
    assert is_renewing.is_set()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("host", "status", "words"),
    [
        (
            "login.microsoftonline.com",
            401,
            "(AADSTS700213): it needs a federated credential for repo:o/r:environment:dev.",
        ),
        ("ours.blob.core.windows.net", 403, "the role Storage Blob Data Reader on the container"),
        ("ours.vault.azure.net", 403, "the role Key Vault Crypto User on the key dev of ours"),
        ("management.azure.com", 403, "the role Reader on the stack's resource group."),
    ],
)
def test_a_missing_role_is_named_before_the_command_runs(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str],
    host: str, status: int, words: str,
) -> None:  # fmt: skip
    cloud.statuses[host] = status

    assert azure.main(["plan", *python("print('ran')")], job) == 2

    [line] = capfd.readouterr().out.splitlines()
    assert line.startswith("::error::")
    assert words in line


def test_the_identity_of_pull_requests_reads_the_whole_subscription(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its message asked for a role on the group of one stack; a change can have any stack."""
    cloud.statuses["management.azure.com"] = 403
    assert azure.main(["preview", "true"], job) == 2
    assert "the role Reader on the subscription." in capfd.readouterr().out


def test_an_identity_that_sees_no_group_lacks_its_role(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str]
) -> None:
    cloud.groups = []
    assert azure.main(["deploy", "true"], job) == 2
    assert "lacks the role Contributor" in capfd.readouterr().out


def test_the_identity_of_pull_requests_asks_for_no_key_and_writes_nothing(
    job: dict[str, str], cloud: Azure
) -> None:
    """Whoever pushed a branch could decrypt the state of production."""
    Path("Pulumi.dev.yaml").unlink()
    assert azure.main(["preview", "true"], job) == 0
    assert not [asked for asked in cloud.asked if "vault" in asked or asked.startswith("PUT")]

    Path("Pulumi.dev.yaml").write_text(STACK_FILE)
    assert azure.main(["deploy", "true"], job) == 0
    [write] = [asked for asked in cloud.asked if asked.startswith("PUT")]
    assert write == "PUT https://ours.blob.core.windows.net/dev/access"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ACTIONS_ID_TOKEN_REQUEST_URL": ""}, "lack `id-token: write`"),
        ({"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "other"}, "GitHub gave this job no token (HTTP 403)"),
        ({"PULUMI_BACKEND_URL": "file:///tmp"}, "PULUMI_BACKEND_URL is not azblob://"),
        ({"STACK": "prod"}, "Pulumi.prod.yaml has no `secretsprovider`"),
    ],
)
def test_other_mistakes_are_a_sentence_each(
    job: dict[str, str], cloud: Azure, capfd: pytest.CaptureFixture[str],
    change: dict[str, str], words: str,
) -> None:  # fmt: skip
    Path("Pulumi.prod.yaml").write_text("config: {}\n")
    assert azure.main(["plan", "true"], {**job, **change}) == 2
    [line] = capfd.readouterr().out.splitlines()
    assert words in line


def test_a_service_that_does_not_answer_is_named(
    job: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert azure.main(["plan", "true"], {**job, "AZURE_AUTHORITY_HOST": "http://127.0.0.1:9"}) == 2
    assert "127.0.0.1:9 does not answer" in capfd.readouterr().out
