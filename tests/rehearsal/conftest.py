"""A rehearsal cloud for the tests, and Azure's own unmodified clients pointed at it."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.resource.features import FeatureClient
from azure.mgmt.resource.resources import ResourceManagementClient
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.kept_connection import KeptConnection
from tests.names import unique
from tests.request_log import RequestLog
from tests.waiting import until

API_VERSION = "2026-08-01"
# Operations of some hundredths of a second, for tests that wait for their end...
FAST = 0.005
# ...and of hours, for tests that look at what happens while one runs.
STANDSTILL = 1000.0
# The only statuses in which an operation runs no more.
ENDED = ("Succeeded", "Failed", "Canceled")
SYSTEM_POOL = {"name": "system", "mode": "System", "vmSize": "Standard_D2s_v3"}


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class Azure:
    """Clients of one rehearsal cloud; `call` is for what no client would send."""

    cloud: Cloud
    # It renews its token: an hour is not enough for all tests of a busy machine.
    own_credential: ClientSecretCredential | None = field(default=None, repr=False, compare=False)
    _connection: KeptConnection = field(init=False, repr=False, compare=False)
    _log: RequestLog = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._connection = KeptConnection(self.cloud.url, Path(self.ca))
        self._log = RequestLog(self.cloud.request_log)

    @property
    def ca(self) -> str:
        return str(self.cloud.home / "ca.pem")

    def credential(self, secret: str | None = None) -> ClientSecretCredential:
        return ClientSecretCredential(
            self.cloud.tenant,
            self.cloud.client_id,
            secret or self.cloud.client_secret,
            authority=self.cloud.url,
            disable_instance_discovery=True,
            connection_verify=self.ca,
        )

    @property
    def client_settings(self) -> dict[str, Any]:
        return {
            "base_url": self.cloud.url,
            "credential_scopes": [f"{self.cloud.url}/.default"],
            "connection_verify": self.ca,
            # A refusal shall come back as it is, at once.
            "retry_total": 0,
        }

    @property
    def aks(self) -> ContainerServiceClient:
        return ContainerServiceClient(
            self.credential(), self.cloud.subscription, **self.client_settings
        )

    @property
    def compute(self) -> ComputeManagementClient:
        return ComputeManagementClient(
            self.credential(), self.cloud.subscription, **self.client_settings
        )

    @property
    def resources(self) -> ResourceManagementClient:
        return ResourceManagementClient(
            self.credential(), self.cloud.subscription, **self.client_settings
        )

    @property
    def features(self) -> FeatureClient:
        return FeatureClient(self.credential(), self.cloud.subscription, **self.client_settings)

    def for_a_test(self) -> "Azure":
        """The same clients, whose `requests` begin now."""
        self.own_token()
        own = replace(self)
        own._connection = self._connection
        return own

    def own_token(self) -> str:
        self.own_credential = self.own_credential or self.credential()
        return self.own_credential.get_token(f"{self.cloud.url}/.default").token

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """One request below the subscription (or the server, with a leading `//`).

        An empty token means a good one, None means no Authorization header at all.
        """
        if token == "":
            token = self.own_token()
        sent = {"Content-Type": "application/json", **(headers or {})}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        below = path[1:] if path.startswith("//") else self.subscription + path
        text = json.dumps(body) if body is not None else None
        response, content = self._connection.request(method, below, text, sent)
        parsed = json.loads(content) if content else None
        return Reply(response.status, dict(response.headers), parsed)

    def cluster_in(self, location: str) -> str:
        """The path of a new, finished cluster in a location, with a group of its own."""
        group = f"/resourceGroups/{unique(f'in-{location}')}"
        self.call("PUT", f"{group}?api-version=2025-04-01", {"location": location})
        path = f"{group}/providers/Microsoft.ContainerService/managedClusters/cluster"
        body = new_cluster() | {"location": location}
        made = self.call("PUT", f"{path}?api-version={API_VERSION}", body)
        assert made.status == 201, made
        wait_until_made(self, path)
        return path

    def register_specialized_image(self) -> None:
        """What comes before the header."""
        self.register("Microsoft.ContainerService", "GPUDedicatedVHDPreview")

    def register(self, namespace: str, name: str) -> None:
        """Registers a feature, and then its provider once more."""
        provider = f"/providers/{namespace}"
        feature = f"/providers/Microsoft.Features{provider}/features/{name}"
        version = "?api-version=2021-07-01"
        self.call("POST", f"{feature}/register{version}")
        self.wait(
            f"{feature}{version}", lambda reply: reply.body["properties"]["state"] == "Registered"
        )
        again = self.call("POST", f"{provider}/register?api-version=2025-04-01")
        assert again.body["registrationState"] == "Registered"

    @property
    def subscription(self) -> str:
        return f"/subscriptions/{self.cloud.subscription}"

    def below(self, address: str) -> str:
        """An absolute address of this cloud as `call` takes it."""
        start = self.cloud.url + self.subscription
        assert address.startswith(start)
        return address.removeprefix(start)

    def requests(self, path_part: str) -> list[dict[str, Any]]:
        """What reached the cloud since this was made, by a part of the path."""
        part = path_part.lower()
        return [line for line in self._log.lines() if part in line["path"].lower()]

    def wait(self, path: str, is_done: Callable[[Reply], bool]) -> Reply:
        def done() -> Reply | None:
            reply = self.call("GET", path)
            return reply if is_done(reply) else None

        return until(done, f"{path} is as it should be")


@pytest.fixture
def start_cloud(tmp_path: Path) -> Iterator[Callable[..., Cloud]]:
    """Starts a cloud of the test's own; whatever runs in its home at the end is ended."""
    home = tmp_path / "cloud"

    def start(time_scale: float = FAST) -> Cloud:
        return cloud.start(home, time_scale, era="article")

    yield start
    cloud.stop(home)


@pytest.fixture
def azure_of() -> Callable[[Cloud], Azure]:
    return Azure


@pytest.fixture(scope="session")
def azure_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    home = tmp_path_factory.mktemp("cloud")
    # Most tests are about contracts that all eras share, and use the article's sizes.
    yield Azure(cloud.start(home, FAST, era="article"))
    assert cloud.stop(home)


@pytest.fixture
def azure(azure_of_the_session: Azure) -> Azure:
    """The clients of one cloud that all tests share: each uses names of its own."""
    return azure_of_the_session.for_a_test()


@pytest.fixture(scope="session")
def shop_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    home = tmp_path_factory.mktemp("shop")
    yield Azure(cloud.start(home, FAST))
    assert cloud.stop(home)


@pytest.fixture
def shop(shop_of_the_session: Azure) -> Iterator[Azure]:
    """The clients of a cloud of today, for tests that script what it offers."""
    yield shop_of_the_session.for_a_test()
    shop_of_the_session.cloud.offer({})


@pytest.fixture(scope="session")
def standing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Azure, list[str]]]:
    """The clients of a cloud whose operations do not end, and finished clusters to start them on.

    There is a cluster for each test of this run that asks for one, in a resource group of its own.
    They were made before time stood still.
    """
    home = tmp_path_factory.mktemp("standing")
    azure = Azure(cloud.start(home, FAST, era="article"))
    paths = []
    for _ in range(sum("held" in _fixtures(item) for item in request.session.items)):
        group = f"/resourceGroups/{unique('held')}"
        azure.call("PUT", f"{group}?api-version=2025-04-01", {"location": "eastus"})
        paths.append(f"{group}/providers/Microsoft.ContainerService/managedClusters/held")
        body = new_cluster(agentPoolProfiles=[SYSTEM_POOL, SYSTEM_POOL | {"name": "second"}])
        azure.call("PUT", f"{paths[-1]}?api-version={API_VERSION}", body)
    for path in paths:
        wait_until_made(azure, path)
    cloud.stop(home)
    yield Azure(cloud.start(home, STANDSTILL, era="article")), paths
    assert cloud.stop(home)


def _fixtures(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


@pytest.fixture
def slow_azure(standing: tuple[Azure, list[str]]) -> Azure:
    return standing[0].for_a_test()


@pytest.fixture
def held(standing: tuple[Azure, list[str]]) -> str:
    """The path of a cluster that no other test has touched, where operations do not end.

    It has two System pools, `system` and `second`.
    """
    return standing[1].pop()


@pytest.fixture
def group(azure: Azure) -> str:
    name = unique("group")
    azure.call("PUT", f"/resourceGroups/{name}?api-version=2025-04-01", {"location": "eastus"})
    return name


@pytest.fixture
def cluster_body() -> Callable[..., dict[str, Any]]:
    return new_cluster


@pytest.fixture
def cluster(azure: Azure, group: str) -> str:
    """The path of a finished cluster, with one System pool named `system`."""
    path = (
        f"/resourceGroups/{group}/providers/Microsoft.ContainerService"
        f"/managedClusters/{unique('cluster')}"
    )
    reply = azure.call("PUT", f"{path}?api-version={API_VERSION}", new_cluster())
    assert reply.status == 201, reply
    wait_until_made(azure, path)
    return path


def new_cluster(**properties: Any) -> dict[str, Any]:
    return {
        "location": "eastus",
        "identity": {"type": "SystemAssigned"},
        "properties": {
            "dnsPrefix": "test",
            "agentPoolProfiles": [SYSTEM_POOL.copy()],
            **properties,
        },
    }


def wait_until_made(azure: Azure, path: str) -> None:
    azure.wait(
        f"{path}?api-version={API_VERSION}",
        lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
    )


def signed(azure: Azure, **claims: Any) -> str:
    """A token signed with the cloud's own key, with other claims than it would give."""
    pem = (azure.cloud.home / "token-key.pem").read_bytes()
    key = serialization.load_pem_private_key(pem, None)
    assert isinstance(key, rsa.RSAPrivateKey)
    now = int(time.time())
    return jwt.encode({"aud": azure.cloud.url, "exp": now + 3600, **claims}, key, "RS256")
