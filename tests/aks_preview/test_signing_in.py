"""Every way to sign in works, or ends in one clear sentence, whatever the servers answer."""

import asyncio
import datetime
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

from aks_preview.configuration import SETTINGS
from provider_kit.configuration import Configuration
from tests.aks_preview.odd import clock
from tests.aks_preview.odd.azure import Answer, OddAzure, refusal, serving
from tests.aks_preview.odd.driver import Driver, Outcome, driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS
from tests.aks_preview.test_interrupts import SilentAzure, create
from tests.waiting import until

SECRET = "a client's secret"
BEARER = "what is shown to the runner"
ASKED_FOR = "GET /runner"
HTML = "<html><body>A proxy's own page</body></html>"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS.values():
        for variable in setting.variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")


def created(azure: OddAzure, *, bent: Callable[[], None] = lambda: None, **given: Any) -> Outcome:
    """What becomes of a pool with these settings beside those of the odd Azure."""

    async def make() -> Outcome:
        async with serving(azure):
            bent()
            settings = {
                name: value.replace("{url}", azure.url) if isinstance(value, str) else value
                for name, value in given.items()
            }
            async with driving(azure, **settings) as provider:
                return await provider.create(POOL_INPUTS)

    return clock.run(make())


def with_oidc(**more: str) -> dict[str, Any]:
    return {"useOidc": "true", "oidcRequestUrl": "{url}/runner", "oidcRequestToken": BEARER} | more


@pytest.mark.parametrize(
    "answers",
    [
        [refusal(500, "InternalServerError")],
        [refusal(503, "ServiceUnavailable"), Answer(breaks="before")],
        [Answer(breaks="within")],
    ],
)
@pytest.mark.parametrize("phase", ["metadata", ASKED_FOR, "token"])
def test_temporary_errors_are_retried(phase: str, answers: list[Answer]) -> None:
    azure = OddAzure()
    token = Answer(body={"value": "of the runner"})
    azure.bend(ASKED_FOR, for_ever=token)
    azure.bend(phase, *answers, **({"for_ever": token} if phase == ASKED_FOR else {}))

    assert created(azure, **with_oidc()).error == ""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (refusal(403, "Forbidden", f"Not from here, {BEARER}."), "Not from here"),
        (refusal(500, "InternalServerError", "It broke."), "It broke."),
        (Answer(404, HTML), "404"),
        (Answer(302, headers={"Location": "{other}/elsewhere"}), "302"),
        (Answer(200, HTML), ""),
        (Answer(200, b""), ""),
        (Answer(200, "null"), ""),
        (Answer(200, "[]"), ""),
        (Answer(200, b"\xff"), ""),
        (Answer(200, {"value": 1, "authentication": []}), ""),
        (Answer(200, "[" * 100_000), ""),
        (Answer(429, headers={"Retry-After": "86400"}), "no answer in 30 seconds"),
        (Answer(breaks="before"), ""),
    ],
)
@pytest.mark.parametrize("phase", ["metadata", ASKED_FOR])
def test_permanent_errors_are_reported_with_their_reason(
    phase: str, answer: Answer, reason: str
) -> None:
    """Neither status nor reason was told of an OIDC token; a page for an answer was a traceback."""
    azure = OddAzure()
    azure.bend(phase, for_ever=answer)

    error = created(azure, **with_oidc()).error

    whose = (
        ("did not return an OIDC token")
        if phase == ASKED_FOR
        else "The metadata of the Azure cloud at"
    )
    assert whose in error
    assert reason in error
    assert "Traceback" not in error
    assert phase == "metadata" or BEARER not in error


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, HTML),
        Answer(200, b""),
        Answer(200, "null"),
        Answer(200, "[]"),
        Answer(200, {}),
        Answer(200, {"access_token": 1, "expires_in": "soon"}),
        Answer(400, {"error": "invalid_client", "error_description": "AADSTS7000215: No."}),
        Answer(401, {"error": "invalid_client", "error_description": f"{SECRET} is wrong"}),
        Answer(302, {"you sent": SECRET}, headers={"Location": "{other}/elsewhere"}),
        refusal(500, "InternalServerError"),
        Answer(breaks="before"),
        Answer(breaks="within"),
    ],
)
def test_any_answer_of_a_token_endpoint_is_reported_in_one_sentence(answer: Answer) -> None:
    azure = OddAzure()
    azure.bend("token", for_ever=answer)

    outcome = created(azure)

    assert outcome.error
    assert not outcome.id
    assert "Traceback" not in outcome.error
    assert SECRET not in outcome.error


def test_a_short_secret_is_masked_only_as_a_whole_word() -> None:
    masked = Configuration({"clientSecret": "t", "oidcToken": "a+b"}).masked("It said t, and a+b.")

    assert masked == "It said [secret], and [secret]."


def test_a_managed_identity_signs_in_through_its_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    azure = OddAzure()
    token = {"access_token": "t", "expires_on": 2**33, "token_type": "Bearer", "resource": "arm"}
    azure.bend("GET /identity", Answer(body=token), for_ever=Answer(500, HTML))

    def use_endpoint() -> None:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{azure.url}/identity")
        monkeypatch.setenv("IDENTITY_HEADER", "header")

    assert created(azure, bent=use_endpoint, useMsi="true").error == ""
    assert "Traceback" not in created(azure, bent=use_endpoint, useMsi="true").error


class Proxy:
    """Lets everything through, and keeps whither."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = (await reader.readuntil(b"\r\n\r\n")).decode().split()[1]
        self.asked.append(host)
        address, _, port = host.rpartition(":")
        far = await asyncio.open_connection(address, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(self._pass_on(reader, far[1]), self._pass_on(far[0], writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while part := await reader.read(2**16):
                writer.write(part)
        writer.close()


@pytest.mark.parametrize(("direct", "times"), [("", 4), ("127.0.0.1", 0)])
def test_every_request_uses_the_proxy_or_none_does(
    direct: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metadata went past it; so do the token of the runner, that of Azure, and ARM."""
    azure, proxy = OddAzure(), Proxy()
    azure.bend(ASKED_FOR, for_ever=Answer(body={"value": "of the runner"}))

    async def make() -> Outcome:
        async with serving(azure), await asyncio.start_server(proxy.connect, "127.0.0.1") as server:
            port = server.sockets[0].getsockname()[1]
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
            monkeypatch.setenv("NO_PROXY", direct)
            url = f"{azure.url}/runner"
            async with driving(azure, **with_oidc(oidcRequestUrl=url)) as provider:
                return await provider.create(POOL_INPUTS)

    assert asyncio.run(make()).error == ""
    assert proxy.asked == [azure.url.removeprefix("https://")] * times


def test_an_azure_cli_without_a_login_is_reported() -> None:
    error = created(OddAzure(), clientSecret="").error

    assert "Azure CLI not found on path" in error


def test_a_hanging_azure_cli_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was waited for within the event loop, for as long as a minute."""
    asked, released = tmp_path / "asked", tmp_path / "released"
    program = tmp_path / "az"
    program.write_text(
        f"#!/bin/sh\n: > {asked}\nwhile [ ! -e {released} ]; do /bin/sleep 0.05; done\n"
    )
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))

    async def cancelled() -> Outcome:
        azure = OddAzure()
        async with serving(azure), driving(azure, clientSecret="") as provider:
            working = asyncio.ensure_future(create(provider))
            await asyncio.to_thread(until, asked.exists, "the CLI is asked")
            await provider.provider.cancel()
            try:
                return await asyncio.wait_for(working, 25)
            finally:
                released.touch()

    assert "The update was cancelled" in asyncio.run(cancelled()).error


@pytest.mark.nightly
def test_an_azure_cli_that_hangs_is_reported_within_half_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took 71 seconds: the account was waited for six times as long as the token."""
    program = tmp_path / "az"
    program.write_text("#!/bin/sh\nexec /bin/sleep 100\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))

    async def make() -> Outcome:
        azure = OddAzure()
        async with serving(azure), driving(azure, clientSecret="") as provider:
            return await asyncio.wait_for(create(provider), 45)

    assert "Cannot sign in to Azure: Timed out" in asyncio.run(make()).error


@pytest.mark.parametrize("switch", ["ARM_USE_OIDC", "ARM_USE_MSI"])
def test_a_switch_in_the_environment_that_says_neither_is_reported(
    switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`yes` was passed over in silence, and the Azure CLI was asked."""
    monkeypatch.setenv(switch, "yes")

    error = created(OddAzure(), clientSecret="").error

    assert "must be `true` or `false`: correct aks-preview:use" in error
    assert switch in error


@pytest.mark.nightly
def test_a_silent_metadata_endpoint_is_called_once_for_all_resources() -> None:
    """Each resource waited for it half a minute of its own, one after the other."""
    azure = SilentAzure("metadata")

    async def make() -> list[Outcome]:
        async with serving(azure), driving(azure) as provider:
            pools = [provider.create({**POOL_INPUTS, "agentPoolName": f"p{n}"}) for n in range(20)]
            made = await asyncio.gather(*pools)
            azure.is_over.set()
            return made

    assert {outcome.error for outcome in clock.run(make())} == {
        f"The metadata of the Azure cloud at {azure.url.removeprefix('https://')} cannot be read "
        "(no answer in 30 seconds). Check metadataHost (ARM_METADATA_HOSTNAME) and whether the "
        "cloud is available."
    }


def test_a_silent_token_endpoint_does_not_block() -> None:
    """It was asked within the event loop: the provider heard nothing else, no cancellation too."""
    azure = SilentAzure(ASKED_FOR)
    has_answered = asyncio.Event()

    async def another(provider: Driver) -> Outcome:
        working = asyncio.ensure_future(create(provider))
        await azure.is_asked.wait()
        answer = await provider.ask(
            "Check",
            urn="urn:pulumi:a::b::aks-preview:containerservice:AgentPool::c",
            news=POOL_INPUTS,
        )
        assert not answer.failures
        has_answered.set()
        return await working

    async def cancelled() -> Outcome:
        # The URL is known once it is served.
        async with serving(azure):
            url = f"{azure.url}/runner"
            async with driving(azure, **with_oidc(oidcRequestUrl=url)) as provider:
                working = asyncio.ensure_future(another(provider))
                await has_answered.wait()
                await provider.provider.cancel()
                outcome = await asyncio.wait_for(working, 25)
                azure.is_over.set()
                return outcome

    assert "The update was cancelled" in asyncio.run(cancelled()).error


def files(folder: Path) -> Iterator[tuple[str, bytes, str, bool]]:
    """Files of certificates: what they are, their content, a password, and whether they do."""
    key, other = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "who signs in")])
    now = datetime.datetime.now(datetime.UTC)
    kinds: dict[str, Any] = {"rsa": key, "ec": other}
    made = {
        kind: x509.CertificateBuilder(
            name, name, its.public_key(), 1, now, now.replace(year=2099)
        ).sign(its, hashes.SHA256())
        for kind, its in kinds.items()
    }
    pem = {
        kind: certificate.public_bytes(Encoding.PEM)
        + kinds[kind].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        for kind, certificate in made.items()
    }
    pfx = {
        kind: pkcs12.serialize_key_and_certificates(
            None, kinds[kind], certificate, None, BestAvailableEncryption(b"password")
        )
        for kind, certificate in made.items()
    }
    yield "PEM", pem["rsa"], "", True
    yield "PKCS12", pfx["rsa"], "password", True
    yield "PKCS12 with another password", pfx["rsa"], "other", False
    yield "PKCS12 without its password", pfx["rsa"], "", False
    yield "a key of another kind", pem["ec"], "", False
    yield "PKCS12 with a key of another kind", pfx["ec"], "password", False
    yield "no key", made["rsa"].public_bytes(Encoding.PEM), "", False
    yield "DER", made["rsa"].public_bytes(Encoding.DER), "", False
    yield "half a file", pem["rsa"][: len(pem["rsa"]) // 2], "", False
    yield "nothing", b"", "", False
    yield "something else", b"\x00\xffnot a certificate", "", False


def test_an_invalid_certificate_is_reported_without_a_traceback(tmp_path: Path) -> None:
    """A bad one, and a wrong password, were tracebacks."""
    for kind, content, password, does in files(tmp_path):
        file = tmp_path / "certificate"
        file.write_bytes(content)
        given: dict[str, Any] = {
            "clientCertificatePath": str(file),
            "clientCertificatePassword": password,
        }

        error = created(OddAzure(), **given).error

        assert ("clientCertificatePath cannot be used" in error) is not does, kind
        assert bool(error) is not does, (kind, error)
    for path in ("/nowhere", str(tmp_path), "a\0b"):
        error = created(OddAzure(), clientCertificatePath=path).error
        assert "clientCertificatePath cannot be read" in error


IMPOSSIBLE: dict[str, list[Any]] = {
    "subscriptionId": ["a b", "../x", "x/y", "{}", 5, ["a"]],
    "tenantId": ["a b", "x/y", "https://login", "?"],
    "metadataHost": ["https://x", "x/y", "a b", "[", "x:y", "user@x"],
    "oidcRequestUrl": ["http://x", "x", "https://", "https:// x"],
    "apiVersion": ["2026", "latest", "2026-08-01/x"],
    "useOidc": ["maybe", 7],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_an_impossible_setting_is_reported_by_key(name: str) -> None:
    azure = OddAzure()

    async def checked() -> None:
        async with serving(azure), driving(azure) as provider:
            for value in IMPOSSIBLE[name]:
                answer = await provider.ask("CheckConfig", urn="urn", news={name: value})
                assert [failure.property for failure in answer.failures] == [name], value

    asyncio.run(checked())
