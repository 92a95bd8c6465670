"""Runs a command as the identity of a job's environment, with tokens that do not run out.

    python3 -m aksgpu.ci.azure .ci/up

The token that GitHub gives a job holds for minutes. Pulumi's backend, its key and kubelogin read it
from a file, which is written anew while the command runs; the providers ask GitHub themselves. The
identities are those of docs/ci.md. In PULUMI_BACKEND_URL the word STACK stands for the name of the
stack.
"""

import json
import os
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from aksgpu.outcome import NOT_KNOWN, STOPPED, WRONG_USAGE
from aksgpu.running import Program, ProgramError, terminated_as_interrupted

VARIABLES = (
    "AZURE_CLIENT_ID",
    "AZURE_TENANT_ID",
    "AZURE_SUBSCRIPTION_ID",
    "PULUMI_BACKEND_URL",
)
RENEWED_AFTER_SECONDS = 240.0
_AUDIENCE = "api://AzureADTokenExchange"
_PATIENCE_SECONDS = 30


class AccessError(Exception):
    """What keeps the job from Azure, in one sentence."""


def main(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the command; its exit code."""
    try:
        _require_variables(environment)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "token"
            _write(file, _github_token(environment))
            with _renewed(file, environment), terminated_as_interrupted():
                return Program(command, Path.cwd(), _signed_in(environment, file)).watch()
    except AccessError as error:
        sys.stdout.write(f"::error::{error} See docs/ci.md.\n")
        return WRONG_USAGE
    except ProgramError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_KNOWN
    except KeyboardInterrupt:
        return STOPPED


def _require_variables(environment: Mapping[str, str]) -> None:
    for name in VARIABLES:
        if not environment.get(name):
            raise AccessError(f"The variable {name} is not set, or not for this environment.")


def _signed_in(environment: Mapping[str, str], file: Path) -> dict[str, str]:
    """What the backend, the key, kubelogin and the providers read."""
    backend = environment["PULUMI_BACKEND_URL"].replace("STACK", environment.get("STACK", ""))
    return {
        "AZURE_FEDERATED_TOKEN_FILE": str(file),
        "AAD_LOGIN_METHOD": "workloadidentity",
        "PULUMI_BACKEND_URL": backend,
        "ARM_USE_OIDC": "true",
        "ARM_CLIENT_ID": environment["AZURE_CLIENT_ID"],
        "ARM_TENANT_ID": environment["AZURE_TENANT_ID"],
        "ARM_SUBSCRIPTION_ID": environment["AZURE_SUBSCRIPTION_ID"],
    }


@contextmanager
def _renewed(file: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Writes a new token now and then, and nothing after the end: the folder goes then."""
    ended, writing = threading.Event(), threading.Lock()

    def renew() -> None:
        while not ended.wait(RENEWED_AFTER_SECONDS):
            try:
                token = _github_token(environment)
                with writing:
                    if not ended.is_set():
                        _write(file, token)
            except (AccessError, OSError) as error:
                sys.stderr.write(f"The token was not renewed, and will be tried again: {error}\n")

    threading.Thread(target=renew, daemon=True).start()
    try:
        yield
    finally:
        with writing:
            ended.set()


def _write(file: Path, token: str) -> None:
    """Replaces the file as a whole: whoever reads it gets one token or the other."""
    draft = file.with_name("draft")
    draft.touch(mode=0o600)
    draft.write_text(token, encoding="utf-8")
    draft.replace(file)


def _github_token(environment: Mapping[str, str]) -> str:
    url = environment.get("ACTIONS_ID_TOKEN_REQUEST_URL")
    if not url:
        raise AccessError("GitHub gives this job no token: its permissions lack `id-token: write`.")
    bearer = environment.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    address = f"{url}&{urlencode({'audience': _AUDIENCE})}"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {bearer}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS) as answer:  # noqa: S310
            return str(json.load(answer)["value"])
    except urllib.error.HTTPError as error:
        raise AccessError(f"GitHub gave this job no token (HTTP {error.code}).") from None
    except OSError as error:
        raise AccessError(f"{urlsplit(address).netloc} does not answer: {error}.") from None
    except (KeyError, TypeError, ValueError):
        raise AccessError("GitHub gave this job no token, and no reason.") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
