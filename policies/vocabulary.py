"""What each provider calls the properties of an agent pool. azure-native's names are ours."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Names in a provider, by azure-native's; and what its pools are without saying so."""

    # The newest name first; where none is listed, the name is azure-native's own.
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # Parts that the provider has no mapping for: its flat name for what azure-native has in one.
    flat: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # Where pools of this kind can have no taints: the resource that can.
    tainted_elsewhere: str = ""

    def written(self, name: str, said: Mapping[str, Any]) -> str:
        """What a property is called where it is said, and where it is not, in the provider."""
        names = self.names.get(name, (name,))
        return next((one for one in names if one in said), names[0])


class Renamed(Mapping[str, Any]):
    """A pool's properties by azure-native's names; each is read when it is asked for."""

    def __init__(self, said: Mapping[str, Any], vocabulary: Vocabulary) -> None:
        self._said = said
        self._vocabulary = vocabulary

    def __getitem__(self, name: str) -> Any:
        if name in self._vocabulary.flat:
            outer, inner = self._vocabulary.flat[name]
            return {inner: self._said[outer]}
        for written in self._vocabulary.names.get(name, (name,)):
            # An absent value and an empty one are the same to a provider.
            if (value := self._said.get(written)) is not None:
                return value
        return self._vocabulary.fixed[name]

    def __iter__(self) -> Iterator[str]:
        ours = {*self._vocabulary.names, *self._vocabulary.fixed, *self._vocabulary.flat}
        return iter(name for name in ours | {*self._said} if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


AZURE_NATIVE = Vocabulary()

# The provider has called some of them by other names before.
_CLASSIC_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "agentPoolName": ("name",),
        "count": ("nodeCount",),
        "enableAutoScaling": ("autoScalingEnabled", "enableAutoScaling"),
        "enableEncryptionAtHost": ("hostEncryptionEnabled", "enableHostEncryption"),
        "enableNodePublicIP": ("nodePublicIpEnabled", "enableNodePublicIp"),
        "gpuInstanceProfile": ("gpuInstance",),
        "scaleSetPriority": ("priority",),
        "scaleSetEvictionPolicy": ("evictionPolicy",),
    }
)
_CLASSIC_FLAT: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"gpuProfile": ("gpuDriver", "driver")}
)

CLASSIC_POOL = Vocabulary(names=_CLASSIC_NAMES, flat=_CLASSIC_FLAT)
# The cluster's own pool is always a system pool on Linux.
CLASSIC_CLUSTER = Vocabulary(
    names=_CLASSIC_NAMES,
    flat=_CLASSIC_FLAT,
    fixed=MappingProxyType({"mode": "System", "osType": "Linux"}),
    tainted_elsewhere="KubernetesClusterNodePool",
)
