"""The token of a job, with a stand-in for GitHub."""

import base64
import http.server
import itertools
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from aksgpu.ci import azure

CLAIMS = base64.urlsafe_b64encode(b'{"sub": "repo:o/r:environment:dev"}').decode().rstrip("=")


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


def python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


@pytest.mark.parametrize("missing", azure.VARIABLES)
def test_a_variable_that_is_not_set_is_named(
    job: dict[str, str], capfd: pytest.CaptureFixture[str], missing: str
) -> None:
    """The job went on with an empty tenant, and Pulumi asked for a login after minutes."""
    assert azure.main(["false"], {**job, missing: ""}) == 2

    [line] = capfd.readouterr().out.splitlines()
    assert line.startswith(f"::error::The variable {missing} is not set")
    assert line.endswith(" See docs/ci.md.")


def test_a_command_runs_with_what_backend_key_kubelogin_and_providers_read(
    job: dict[str, str], tmp_path: Path
) -> None:
    """Clusters with Entra could not be deployed: no job signed in to them."""
    script = (
        "import os, pathlib; names = ['AAD_LOGIN_METHOD', 'ARM_CLIENT_ID', 'PULUMI_BACKEND_URL'];"
        "token = pathlib.Path(os.environ['AZURE_FEDERATED_TOKEN_FILE']);"
        "said = [token.read_text(), oct(token.stat().st_mode), *(os.environ[n] for n in names)];"
        "pathlib.Path('said').write_text('\\n'.join(said)); raise SystemExit(7)"
    )
    assert azure.main(python(script), job) == 7

    said = (tmp_path / "said").read_text().splitlines()
    backend = "azblob://dev?storage_account=ours"
    assert said == [f"header.{CLAIMS}.1", "0o100600", "workloadidentity", "client", backend]


def test_tokens_renew_while_a_command_runs(
    job: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update that took more than an hour could not write its state any more."""
    monkeypatch.setattr(azure, "RENEWED_AFTER_SECONDS", 0.05)
    script = (
        "import os, pathlib, time; file = pathlib.Path(os.environ['AZURE_FEDERATED_TOKEN_FILE']);"
        "seen = set(); end = time.time() + 20\n"
        "while len(seen) < 4 and time.time() < end: seen.add(file.read_text())\n"
        "pathlib.Path('seen').write_text(str(len(seen)))"
    )
    assert azure.main(python(script), job) == 0
    assert (tmp_path / "seen").read_text() == "4"


def test_a_renewal_that_fails_is_tried_again(
    job: dict[str, str], capfd: pytest.CaptureFixture[str],
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
    assert azure.main(python(script), job) == 0
    assert "will be tried again: GitHub is away." in capfd.readouterr().err


def test_nothing_is_written_after_the_command(
    job: dict[str, str], capfd: pytest.CaptureFixture[str],
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
    script = "import time; time.sleep(0.3)"
    assert azure.main(python(script), job) == 0
    has_ended.set()
    for thread in threads:
        thread.join(20)
    assert is_renewing.is_set()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ACTIONS_ID_TOKEN_REQUEST_URL": ""}, "lack `id-token: write`"),
        ({"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "other"}, "GitHub gave this job no token (HTTP 403)"),
        ({"ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:9/?a"}, "127.0.0.1:9 does not answer"),
    ],
)
def test_other_mistakes_are_a_sentence_each(
    job: dict[str, str], capfd: pytest.CaptureFixture[str],
    change: dict[str, str], words: str,
) -> None:  # fmt: skip
    assert azure.main(["true"], {**job, **change}) == 2
    [line] = capfd.readouterr().out.splitlines()
    assert words in line
