"""A rehearsal cloud whose script makes answers true and false, and stacks to ask about."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.mgmt.containerservice.models import ManagedCluster

from aksgpu.preflight.access import Access, of_rehearsal
from aksgpu.preflight.facts import Facts, OfferedSize
from aksgpu.preflight.preflight import Preflight, run
from aksgpu.preflight.queries import Owned
from aksgpu.preflight.rows import Row
from rehearsal import cloud
from stack_settings.model import Settings
from stack_settings.reading import load
from tests.faults import Faults
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, FAST, Azure, new_cluster, wait_until_made

GROUP_VERSION = "api-version=2025-04-01"
# Where tests make clusters: what these use of the quota is not in the way of others.
ELSEWHERE = "northeurope"
T4: dict[str, Any] = {"name": "t4", "vmSize": "Standard_NC8as_T4_v3", "count": 2}


def stack_of(**keys: Any) -> Settings:
    """The settings of a stack file with these keys, by their names in the file."""
    config = {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in keys.items()
    }
    return load(config, "test", lambda _: None)


def the(result: Preflight, question: str, pool: str = "") -> Row:
    """The one answer to a question."""
    (row,) = [row for row in result.rows if (row.question, row.pool) == (question, pool)]
    return row


def offered(name: str, **more: Any) -> OfferedSize:
    some = {"family": "family", "vcpus": 8, "zones": frozenset("123")}
    return OfferedSize(**{"name": name, **some, **more})


def facts_with(*offers: OfferedSize, **more: Any) -> Facts:
    """Facts of a region that offers these, and what else is said."""
    known: dict[str, Any] = {
        "location": "eastus",
        "subscription": "s",
        "sizes": {offer.name.lower(): offer for offer in offers},
        "quotas": {},
        "versions": [],
        "providers": {},
        "features": {},
        "group": None,
        "cluster": None,
        "owned": frozenset(),
    }
    return Facts(**known | more)


def cluster_with(*pools: Mapping[str, Any], version: str = "1.35.1", **more: Any) -> ManagedCluster:
    """A cluster that exists, with these pools."""
    properties = {"currentKubernetesVersion": version, "agentPoolProfiles": pools, **more}
    return ManagedCluster({"id": "/c", "location": "eastus", "properties": properties})


@dataclass(frozen=True)
class Place:
    """A cloud to ask, and to make true or false what it answers."""

    azure: Azure
    _groups: list[str] = field(default_factory=list, init=False)

    @property
    def access(self) -> Access:
        return of_rehearsal(self.azure.cloud)

    def ask(self, owned: Owned = frozenset, access: Access | None = None, **keys: Any) -> Preflight:
        return run("test", stack_of(**keys), access or self.access, owned, lambda _: None)

    def offer(self, **script: Any) -> None:
        self.azure.cloud.offer(script)

    def fault(self, *faults: Mapping[str, Any]) -> None:
        Faults(self.azure.cloud.home).script(*faults)

    def asked(self, question: Callable[[], Any]) -> list[dict[str, Any]]:
        """The requests that a question led to."""
        before = len(self.azure.requests(""))
        question()
        return self.azure.requests("")[before:]

    def group(self) -> str:
        name = unique("there")
        path = f"/resourceGroups/{name}?{GROUP_VERSION}"
        self.azure.call("PUT", path, {"location": ELSEWHERE})
        self._groups.append(path)
        return name

    def cluster(self, group: str, *pools: Mapping[str, Any]) -> str:
        """Makes a cluster with these pools beside its system pool; its id."""
        base = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters"
        path = f"{base}/there"
        system = {"name": "system", "mode": "System", "vmSize": "Standard_D4ds_v5", "count": 1}
        body = new_cluster(agentPoolProfiles=[system, *pools]) | {"location": ELSEWHERE}
        self.azure.call("PUT", f"{path}?api-version={API_VERSION}", body)
        wait_until_made(self.azure, path)
        return f"{self.azure.subscription}{path}"

    def clear(self) -> None:
        """Makes the cloud as it was: everything is offered, and nothing takes of the quota."""
        Faults(self.azure.cloud.home).lift()
        self.offer()
        for path in self._groups:
            self.azure.call("DELETE", path)
        for path in self._groups:
            self.azure.wait(path, lambda reply: reply.status == 404)


@pytest.fixture(scope="session")
def preflight_azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    home = tmp_path_factory.mktemp("preflight-cloud")
    yield Azure(cloud.start(home, FAST))
    cloud.stop(home)


@pytest.fixture
def place(preflight_azure: Azure) -> Iterator[Place]:
    """The cloud, which is as it was again after the test."""
    own = Place(preflight_azure.for_a_test())
    yield own
    own.clear()


@pytest.fixture(scope="session")
def there(preflight_azure: Azure) -> Mapping[str, Any]:
    """The stack file's keys for a cluster that exists, with no pool but its system pool."""
    group = Place(preflight_azure).group()
    Place(preflight_azure).cluster(group)
    return {
        "location": ELSEWHERE,
        "resourceGroup": {"name": group, "existing": True},
        "cluster": {"name": "there", "existing": True},
    }
