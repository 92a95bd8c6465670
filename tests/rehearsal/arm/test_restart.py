"""What outlives the server's process."""

import datetime
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from rehearsal import cloud
from rehearsal.arm import tls
from rehearsal.arm.home import Home
from rehearsal.arm.operations import Kind
from tests.rehearsal.conftest import ENDED

pytestmark = pytest.mark.long

V = "?api-version=2026-08-01"
FAST, STANDSTILL = 0.005, 1000.0
GROUP = "/resourceGroups/kept"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/kept"
Start = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with its certificates; a server makes them at its start."""
    made = Home(tmp_path)
    tls.prepare(made)
    return made


def is_succeeded(reply: Any) -> bool:
    return bool(reply.body["properties"]["provisioningState"] == "Succeeded")


def test_a_restart_keeps_state_and_continues_operations(
    start_cloud: Start, azure_of: Callable[[Any], Any], cluster_body: Callable[..., Any]
) -> None:
    first = start_cloud(STANDSTILL)
    azure = azure_of(first)
    azure.call("PUT", f"{GROUP}{V}", {"location": "eastus", "tags": {"a": "b"}})
    made = azure.call("PUT", f"{CLUSTER}{V}", cluster_body())
    shown = azure.call("GET", f"{CLUSTER}{V}").body
    assert cloud.stop(first.home)

    second = start_cloud(STANDSTILL)
    assert second.pid != first.pid
    assert (second.url, second.client_secret) == (first.url, first.client_secret)
    # The token from before the restart is good as well: the key that signed it is the same.
    assert azure.call("GET", f"{CLUSTER}{V}").body == shown
    running = azure.call("GET", azure.below(made.headers["Azure-AsyncOperation"]))
    assert running.body["status"] == "InProgress"
    assert azure.call("GET", f"{GROUP}{V}").body["tags"] == {"a": "b"}
    assert len(azure.requests("/managedClusters/kept")) == 3


def test_an_operation_ends_in_time_while_the_server_is_stopped(
    start_cloud: Start, azure_of: Callable[[Any], Any], cluster_body: Callable[..., Any]
) -> None:
    azure = azure_of(start_cloud(FAST))
    azure.call("PUT", f"{GROUP}{V}", {"location": "eastus"})
    made = azure.call("PUT", f"{CLUSTER}{V}", cluster_body())
    cloud.stop(azure.cloud.home)
    # Its duration is what it was when it began, whatever the pace of the server that sees its end.
    start_cloud(STANDSTILL)
    azure.wait(f"{CLUSTER}{V}", is_succeeded)
    ended = azure.call("GET", azure.below(made.headers["Azure-AsyncOperation"])).body
    lasted = datetime.datetime.fromisoformat(ended["endTime"]) - datetime.datetime.fromisoformat(
        ended["startTime"]
    )
    assert lasted.total_seconds() == pytest.approx(Kind.CLUSTER_CREATE.seconds * FAST, abs=0.001)


@pytest.mark.nightly
def test_an_operation_inside_a_deleted_group_is_cancelled(
    start_cloud: Start, azure_of: Callable[[Any], Any], cluster_body: Callable[..., Any]
) -> None:
    azure = azure_of(start_cloud(STANDSTILL))
    azure.call("PUT", f"{GROUP}{V}", {"location": "eastus"})
    made = azure.call("PUT", f"{CLUSTER}{V}", cluster_body())
    cloud.stop(azure.cloud.home)
    start_cloud(FAST)
    azure.call("DELETE", f"{GROUP}{V}")
    done = azure.wait(
        azure.below(made.headers["Azure-AsyncOperation"]),
        lambda reply: reply.body["status"] in ENDED,
    )
    assert done.body["status"] == "Canceled"
    assert done.body["error"]["code"] == "OperationPreempted"


def test_the_certificates_are_used_again(home: Home) -> None:
    files = home.ca_certificate, home.server_certificate, home.server_key
    before = [file.read_bytes() for file in files]
    tls.prepare(home)
    assert [file.read_bytes() for file in files] == before


def test_the_certificate_names_only_this_machine(home: Home) -> None:
    certificate = x509.load_pem_x509_certificate(home.server_certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


def test_the_bundle_adds_the_rehearsals_root_to_the_trusted_ones(
    home: Home, monkeypatch: Any
) -> None:
    context = ssl.create_default_context(cafile=str(home.ca_bundle))
    assert len(context.get_ca_certs()) > 10
    count = home.ca_bundle.read_text().count("BEGIN CERTIFICATE")
    assert home.ca_certificate.read_text() in home.ca_bundle.read_text()
    # A shell that looks at the rehearsal already names our bundle: it does not grow.
    monkeypatch.setenv("SSL_CERT_FILE", os.fspath(home.ca_bundle))
    tls.prepare(home)
    assert home.ca_bundle.read_text().count("BEGIN CERTIFICATE") == count
    # What somebody set is what is in force, not what the system brings.
    monkeypatch.setenv("SSL_CERT_FILE", os.fspath(home.server_certificate))
    tls.prepare(home)
    assert home.ca_bundle.read_text().count("BEGIN CERTIFICATE") == 2
