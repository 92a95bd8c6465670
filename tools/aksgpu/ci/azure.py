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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
_PATIENCE_SECONDS = 30


class AccessError(Exception):
    """What keeps the job from Azure, in one sentence."""


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the command; its exit code."""
    identity, *command = arguments
    try:
        _require_variables(environment)
        backend = environment["PULUMI_BACKEND_URL"].replace("STACK", environment.get("STACK", ""))
        environment = {**environment, "PULUMI_BACKEND_URL": backend}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "token"
            _write(file, _github_token(environment))
            token = partial(_azure_token, file.read_text(encoding="utf-8"), environment)
            _require_roles(environment["AZURE_CLIENT_ID"], _answers(identity, environment, token))
            with _renewed(file, environment), terminated_as_interrupted():
                return Program(command, Path.cwd(), _signed_in(environment, file)).watch()
    except (AccessError, StacksError) as error:
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
    return {
        "AZURE_FEDERATED_TOKEN_FILE": str(file),
        "AAD_LOGIN_METHOD": "workloadidentity",
        "PULUMI_BACKEND_URL": environment["PULUMI_BACKEND_URL"],
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
    status, answer = send(address, _bearer(bearer))
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


def _require_roles(client: str, answers: Iterable[tuple[str, str, int]]) -> None:
    for role, scope, status in answers:
        if status in (401, 403):
            raise AccessError(f"The identity {client} lacks the role {role} on {scope}.")


def _answers(
    identity: str, environment: Mapping[str, str], token: Callable[[str], str]
) -> Iterator[tuple[str, str, int]]:
    """Asks each service; gives the role that this takes, on what, and the status of the answer."""
    writes = identity == "deploy"
    role = "Contributor" if writes else "Reader"
    scope = "the subscription" if identity == "preview" else "the stack's resource group"
    yield role, scope, _group(environment["AZURE_SUBSCRIPTION_ID"], token)
    backend = environment["PULUMI_BACKEND_URL"]
    status = _state(backend, writes, token)
    role = f"Storage Blob Data {'Contributor' if writes else 'Reader'}"
    yield role, f"the container {urlsplit(backend).netloc}", status
    if identity != "preview":
        vault, name = _key_of(environment.get("STACK", ""))
        body = json.dumps({"alg": "RSA-OAEP-256", "value": "AA"}).encode()
        headers = _bearer(token("https://vault.azure.net")) | {"Content-Type": "application/json"}
        status, _ = send(f"https://{vault}/keys/{name}/encrypt?api-version=7.4", headers, body)
        yield "Key Vault Crypto User", f"the key {name} of {vault}", status


def _group(subscription: str, token: Callable[[str], str]) -> int:
    """An identity without any role lists no group, and gets no refusal either."""
    address = f"{_MANAGEMENT}/subscriptions/{subscription}/resourcegroups"
    headers = _bearer(token(_MANAGEMENT))
    status, answer = send(f"{address}?api-version=2021-04-01&$top=1", headers)
    return status if status != 200 or answer.get("value") else 403


def _state(backend: str, writes: bool, token: Callable[[str], str]) -> int:
    url = urlsplit(backend)
    query = parse_qs(url.query)
    if url.scheme != "azblob" or "storage_account" not in query:
        raise AccessError("PULUMI_BACKEND_URL is not azblob://CONTAINER?storage_account=ACCOUNT.")
    domain = query.get("domain", ["blob.core.windows.net"])[0]
    container = f"https://{query['storage_account'][0]}.{domain}/{url.netloc}"
    headers = _bearer(token("https://storage.azure.com")) | {"x-ms-version": "2023-11-03"}
    if writes:
        # Nothing is written: no blob has this tag.
        headers |= {"If-Match": '"0"', "x-ms-blob-type": "BlockBlob"}
        return send(f"{container}/access", headers, b"", "PUT")[0]
    return send(f"{container}?restype=container&comp=list&maxresults=1", headers)[0]


def _key_of(stack: str) -> tuple[str, str]:
    """The vault and the name of the key of a stack's secrets."""
    folder = folder_of_stacks(Path("Pulumi.yaml").read_text(encoding="utf-8"))
    file = folder / f"Pulumi.{stack}.yaml"
    key = _KEY.search(Path(file).read_text(encoding="utf-8"))
    if key is None:
        raise AccessError(f"{file} has no `secretsprovider` that is a key in a key vault.")
    return key[1], key[2]


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


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
