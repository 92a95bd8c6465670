"""Each way to sign in works, and a refusal reaches the user in one sentence without a secret."""

import datetime
import io
import os
from pathlib import Path
from unittest import mock

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from aks_preview.configuration import SETTINGS
from provider_kit import azure_cloud
from tests.aks_preview.odd import clock
from tests.aks_preview.odd.azure import Answer, OddAzure, serving
from tests.aks_preview.odd.driver import POOL_INPUTS, Outcome, driving

SECRET, BEARER = "a client's secret", "what is shown to the runner"
OF_GITHUB = {"useOidc": "1", "oidcRequestUrl": "https://runner/?a=1", "oidcRequestToken": BEARER}
OF_THE_FILE = {"useOidc": "true", "oidcTokenFilePath": "{folder}/token"}
PFX = {"clientCertificatePath": "{folder}/pfx", "clientCertificatePassword": "password"}
MSI = {"access_token": "t", "expires_on": 2**33, "token_type": "Bearer", "resource": "arm"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What can sign in on this machine: an Azure CLI, and files."""
    for setting in SETTINGS.values():
        for variable in setting.variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "az"
    program.write_text("""#!/bin/sh\necho '{"accessToken": "t", "expires_on": 8589934592}'\n""")
    program.chmod(0o700)
    (tmp_path / "token").write_text("of.the.file\n")
    return tmp_path


def write_certificate(file: Path) -> None:
    key, now = rsa.generate_private_key(65537, 2048), datetime.datetime.now(datetime.UTC)
    name, password = x509.Name([]), BestAvailableEncryption(b"password")
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now.replace(year=2099))
    signed = made.sign(key, hashes.SHA256())
    file.write_bytes(pkcs12.serialize_key_and_certificates(None, key, signed, None, password))


def created(azure: OddAzure, folder: Path, **given: str) -> Outcome:
    """What becomes of a pool with these settings beside those of the odd Azure."""

    async def make() -> Outcome:
        async with serving(azure):
            place = {"url": azure.url, "folder": str(folder)}
            settings = {name: value.format(**place) for name, value in given.items()}
            endpoint = {"IDENTITY_ENDPOINT": f"{azure.url}/identity", "IDENTITY_HEADER": "header"}
            with mock.patch.dict(os.environ, endpoint):
                async with driving(azure, **settings) as provider:
                    return await provider.create(POOL_INPUTS)

    azure.bend("GET /identity", for_ever=Answer(body=MSI))
    return clock.run(make())


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param({}, "client_secret=a+client%27s+secret", id="client secret"),
        pytest.param(OF_GITHUB, "client_assertion=of.the.runner", id="GitHub"),
        pytest.param(OF_THE_FILE, "client_assertion=of.the.file", id="token file"),
        pytest.param({"useOidc": "1", "oidcToken": "a.b"}, "client_assertion=a.b", id="token"),
        pytest.param(PFX, "client_assertion=", id="certificate"),
        pytest.param({"useMsi": "true"}, "", id="managed identity"),
        pytest.param({"clientSecret": ""}, "", id="Azure CLI"),
    ],
)
def test_each_way_to_sign_in_works(given: dict[str, str], shown: str, folder: Path) -> None:
    write_certificate(folder / "pfx")
    azure, token = OddAzure(), io.BytesIO(b'{"value": "of.the.runner"}')
    runner = mock.Mock(side_effect=[OSError("503"), token])
    with mock.patch.object(azure_cloud, "urlopen", runner):
        assert created(azure, folder, **given).error == ""
    for asked, *_ in (call.args for call in runner.call_args_list):
        assert asked.full_url.startswith("https://runner/?a=1&audience=api")
        assert asked.get_header("Authorization") == f"Bearer {BEARER}"

    sent = [made.body.decode() for made in azure.requests if made.phase == "token"]
    assert bool(sent) is bool(shown)
    assert all(shown in body for body in sent)


# Entra ID does not repeat a secret; who stands in its place may.
NO = {"error": "invalid_client", "error_description": f"AADSTS7000215: {SECRET} is none."}
PAGE = Answer(200, "<html>A proxy's own page</html>")
# Python quotes a header that it cannot send: the token stood in the error.
IN_TWO = OF_GITHUB | {"oidcRequestToken": f"{BEARER}\nmore"}
NOWHERE = OF_GITHUB | {"oidcRequestUrl": "https://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("given", "phase", "answer", "reason"),
    [
        ({}, "metadata", PAGE, "The metadata of the Azure cloud at"),
        (NOWHERE, "", PAGE, "127.0.0.1:9 returned no OIDC token ("),
        (IN_TWO, "", PAGE, "runner returned no OIDC token (Invalid header value"),
        (OF_GITHUB | {"oidcRequestUrl": "https://a b/"}, "", PAGE, "returned no OIDC token ("),
        ({}, "token", Answer(401, NO), "AADSTS7000215: [secret] is none."),
        (PFX | {"clientCertificatePath": "/nowhere"}, "", PAGE, "Cannot sign in to Azure: [Errno"),
    ],
)
def test_a_refusal_is_told_in_one_line_without_secrets(
    given: dict[str, str], phase: str, answer: Answer, reason: str, folder: Path
) -> None:
    write_certificate(folder / "pfx")
    azure = OddAzure()
    azure.bend(phase, for_ever=answer)

    error = created(azure, folder, **given).error

    assert reason in error
    assert not [hidden for hidden in (BEARER, SECRET, "Traceback", "\n") if hidden in error]
