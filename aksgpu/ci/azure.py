"""Runs a command as the identity of a job's environment, with tokens that do not run out.

    python3 -m aksgpu.ci.azure deploy .ci/up

The token that GitHub gives a job holds for minutes. Pulumi's backend, its key and kubelogin read it
from a file, which is written anew while the command runs; the providers ask GitHub themselves.
First each service is asked once: a missing role is named here, and not in the middle of an update.
The identities are those of docs/ci.md: preview, plan and deploy. In PULUMI_BACKEND_URL the word
STACK stands for the name of the stack.
"""

import base64
import json
import os
import re
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from aksgpu.ci.stacks import StacksError, folder_of_stacks
from aksgpu.outcome import NOT_KNOWN, STOPPED, WRONG_USAGE
from aksgpu.running import Program, ProgramError, terminated_as_interrupted

VARIABLES = (
    "AZURE_CLIENT_ID",
    "AZURE_TENANT_ID",
    "AZURE_SUBSCRIPTION_ID",
    "PULUMI_BACKEND_URL",
)
RENEWED_AFTER_SECONDS = 240.0
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_AUDIENCE = "api://AzureADTokenExchange"
_MANAGEMENT = "https://management.azure.com"
_KEY = re.compile(r"^secretsprovider: [\"']?azurekeyvault://([^/\s]+)/keys/([^/\s?\"']+)", re.M)
_FORBIDDEN = (401, 403)
_PATIENCE_SECONDS = 30


class AccessError(Exception):
    """What keeps the job from Azure, in one sentence."""


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the command; its exit code."""
    identity, *command = arguments
    stop = threading.Event()
    try:
        _require_variables(environment)
        backend = environment["PULUMI_BACKEND_URL"].replace("STACK", environment.get("STACK", ""))
        environment = {**environment, "PULUMI_BACKEND_URL": backend}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "token"
            _write(file, _github_token(environment))
            for check in _checks(identity, environment):
                check(partial(_azure_token, file.read_text(encoding="utf-8"), environment))
            threading.Thread(target=_renew, args=(file, environment, stop), daemon=True).start()
            with terminated_as_interrupted():
                return Program(command, Path.cwd(), _signed_in(environment, file)).watch()
    except (AccessError, StacksError) as error:
        sys.stdout.write(f"::error::{error} See docs/ci.md.\n")
        return WRONG_USAGE
    except ProgramError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_KNOWN
    except KeyboardInterrupt:
        return STOPPED
    finally:
        stop.set()


def _require_variables(environment: Mapping[str, str]) -> None:
    for name in VARIABLES:
        if not environment.get(name):
            raise AccessError(f"The variable {name} is not set, or not for this environment.")


def _signed_in(environment: Mapping[str, str], file: Path) -> dict[str, str]:
    """What the backend, the key, kubelogin and the providers read."""
    return {
        "AZURE_FEDERATED_TOKEN_FILE": str(file),
        "AAD_LOGIN_METHOD": "workloadidentity",
        "PULUMI_BACKEND_URL": environment["PULUMI_BACKEND_URL"],
        "ARM_USE_OIDC": "true",
        "ARM_CLIENT_ID": environment["AZURE_CLIENT_ID"],
        "ARM_TENANT_ID": environment["AZURE_TENANT_ID"],
        "ARM_SUBSCRIPTION_ID": environment["AZURE_SUBSCRIPTION_ID"],
    }


def _renew(file: Path, environment: Mapping[str, str], stop: threading.Event) -> None:
    while not stop.wait(RENEWED_AFTER_SECONDS):
        try:
            _write(file, _github_token(environment))
        except (AccessError, OSError) as error:
            sys.stderr.write(f"The token was not renewed, and will be tried again: {error}\n")


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
    status, answer = send(address, {"Authorization": f"Bearer {bearer}"})
    if status != 200 or "value" not in answer:
        raise AccessError(f"GitHub gave this job no token (HTTP {status}).")
    return str(answer["value"])


def _azure_token(assertion: str, environment: Mapping[str, str], service: str) -> str:
    host = environment.get("AZURE_AUTHORITY_HOST") or "https://login.microsoftonline.com"
    form = {
        "grant_type": "client_credentials",
        "client_id": environment["AZURE_CLIENT_ID"],
        "client_assertion_type": _ASSERTION,
        "client_assertion": assertion,
        "scope": f"{service}/.default",
    }
    address = f"{host.rstrip('/')}/{environment['AZURE_TENANT_ID']}/oauth2/v2.0/token"
    status, answer = send(address, {}, urlencode(form).encode())
    if status != 200 or "access_token" not in answer:
        number = next(iter(answer.get("error_codes") or ()), f" of HTTP {status}")
        raise AccessError(
            f"Azure does not let the identity {environment['AZURE_CLIENT_ID']} in "
            f"(AADSTS{number}): it needs a federated credential for {_subject(assertion)}."
        )
    return str(answer["access_token"])


def _subject(assertion: str) -> str:
    """Whom GitHub's token is for, which the federated credential has to repeat."""
    try:
        claims = assertion.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(f"{claims}==="))["sub"])
    except (IndexError, KeyError, ValueError):
        return "this environment"


# Takes what gives a token for a service.
Check = Callable[[Callable[[str], str]], None]


def _checks(identity: str, environment: Mapping[str, str]) -> list[Check]:
    checks: list[Check] = [
        partial(_check_state, environment, identity == "deploy"),
        partial(_check_group, environment, "Contributor" if identity == "deploy" else "Reader"),
    ]
    if identity != "preview":
        checks.append(partial(_check_key, environment))
    return checks


def _check_state(environment: Mapping[str, str], writes: bool, token: Callable[[str], str]) -> None:
    backend = urlsplit(environment["PULUMI_BACKEND_URL"])
    query = parse_qs(backend.query)
    if backend.scheme != "azblob" or "storage_account" not in query:
        raise AccessError("PULUMI_BACKEND_URL is not azblob://CONTAINER?storage_account=ACCOUNT.")
    domain = query.get("domain", ["blob.core.windows.net"])[0]
    container = f"https://{query['storage_account'][0]}.{domain}/{backend.netloc}"
    headers = {
        "Authorization": f"Bearer {token('https://storage.azure.com')}",
        "x-ms-version": "2023-11-03",
    }
    if writes:
        # Nothing is written: no blob has this tag.
        headers |= {"If-Match": '"0"', "x-ms-blob-type": "BlockBlob"}
        status, _ = send(f"{container}/access", headers, b"", "PUT")
    else:
        status, _ = send(f"{container}?restype=container&comp=list&maxresults=1", headers)
    role = f"Storage Blob Data {'Contributor' if writes else 'Reader'}"
    _require(environment, status, role, f"the container {backend.netloc}")


def _check_key(environment: Mapping[str, str], token: Callable[[str], str]) -> None:
    stack = environment.get("STACK", "")
    folder = folder_of_stacks(Path("Pulumi.yaml").read_text(encoding="utf-8"))
    file = folder / f"Pulumi.{stack}.yaml"
    key = _KEY.search(Path(file).read_text(encoding="utf-8"))
    if key is None:
        raise AccessError(f"{file} has no `secretsprovider` that is a key in a key vault.")
    vault, name = key.groups()
    body = json.dumps({"alg": "RSA-OAEP-256", "value": "AA"}).encode()
    headers = {
        "Authorization": f"Bearer {token('https://vault.azure.net')}",
        "Content-Type": "application/json",
    }
    status, _ = send(f"https://{vault}/keys/{name}/encrypt?api-version=7.4", headers, body)
    _require(environment, status, "Key Vault Crypto User", f"the key {name} of {vault}")


def _check_group(environment: Mapping[str, str], role: str, token: Callable[[str], str]) -> None:
    """An identity without any role lists no group, and gets no refusal either."""
    address = f"{_MANAGEMENT}/subscriptions/{environment['AZURE_SUBSCRIPTION_ID']}/resourcegroups"
    headers = {"Authorization": f"Bearer {token(_MANAGEMENT)}"}
    status, answer = send(f"{address}?api-version=2021-04-01&$top=1", headers)
    if status == 200 and not answer.get("value"):
        status = 403
    _require(environment, status, role, "the stack's resource group")


def _require(environment: Mapping[str, str], status: int, role: str, scope: str) -> None:
    if status in _FORBIDDEN:
        raise AccessError(
            f"The identity {environment['AZURE_CLIENT_ID']} lacks the role {role} on {scope}."
        )


def send(
    address: str, headers: Mapping[str, str], body: bytes | None = None, method: str | None = None
) -> tuple[int, dict[str, Any]]:
    """The status of an answer, and its JSON if it has any."""
    request = urllib.request.Request(address, body, dict(headers), method=method)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS) as answer:  # noqa: S310
            return answer.status, _json(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, _json(error.read())
    except OSError as error:
        raise AccessError(f"{urlsplit(address).netloc} does not answer: {error}.") from error


def _json(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
