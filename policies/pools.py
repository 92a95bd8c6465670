"""The agent pools of a resource: a pool of its own, or those inline in a cluster.

A value that is not known yet raises when it is touched, and the engine then reports that the rule
could not run; so a rule reads no more of a pool than it needs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Types carry their API version in older programs: azure-native:containerservice/v20240901:AgentPool
_VERSION = re.compile(r"/v\d{8}(preview)?:")
_AGENT_POOLS = frozenset(
    {"azure-native:containerservice:AgentPool", "aks-preview:containerservice:AgentPool"}
)
_MANAGED_CLUSTERS = frozenset(
    {"azure-native:containerservice:ManagedCluster", "aks-preview:containerservice:ManagedCluster"}
)


@dataclass(frozen=True)
class Pool:
    """One agent pool, with how to name it to a reader."""

    label: str
    properties: Mapping[str, Any]

    def get(self, name: str) -> str:
        """A text property; empty where the program leaves it to the server."""
        return str(self.properties.get(name) or "")


def pools_of(resource_type: str, properties: Mapping[str, Any]) -> Iterator[Pool]:
    """The agent pools that a resource makes."""
    kind = _VERSION.sub(":", resource_type)
    if kind in _AGENT_POOLS:
        yield Pool("This pool", properties)
    elif kind in _MANAGED_CLUSTERS:
        for index, profile in enumerate(properties.get("agentPoolProfiles") or ()):
            yield Pool(f"The inline pool agentPoolProfiles[{index}]", profile)
