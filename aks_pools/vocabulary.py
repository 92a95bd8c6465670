"""The providers' names for the properties of an agent pool, by azure-native's names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The names of a provider, by azure-native's names."""

    # The newest name first. A property that is not listed has azure-native's name.
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Values that the provider does not let a program choose.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # By azure-native's object: the provider's property, and the property in the object.
    flat: Mapping[str, tuple[str, str]] = field(default_factory=dict)


class Renamed(Mapping[str, Any]):
    """A pool's properties by azure-native's names. Each is read only when somebody asks for it."""

    def __init__(self, properties: Mapping[str, Any], vocabulary: Vocabulary) -> None:
        self._properties = properties
        self._vocabulary = vocabulary

    def written(self, name: str) -> str:
        """Returns the name that the program uses; for an unset property, the provider's newest."""
        names = self._vocabulary.names.get(name, (name,))
        return next((each for each in names if each in self._properties), names[0])

    def __getitem__(self, name: str) -> Any:
        if name in self._vocabulary.flat:
            outer, inner = self._vocabulary.flat[name]
            return {inner: self._properties[outer]}
        for written in self._vocabulary.names.get(name, (name,)):
            # A property that is null counts as not set.
            if (value := self._properties.get(written)) is not None:
                return value
        return self._vocabulary.fixed[name]

    def __iter__(self) -> Iterator[str]:
        renamed = {*self._vocabulary.names, *self._vocabulary.fixed, *self._vocabulary.flat}
        return iter(name for name in renamed | {*self._properties} if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


AZURE_NATIVE = Vocabulary()
CLASSIC_POOL = Vocabulary(
    # Some properties have a second, older name.
    names={
        "agentPoolName": ("name",),
        "count": ("nodeCount",),
        "enableAutoScaling": ("autoScalingEnabled", "enableAutoScaling"),
        "enableEncryptionAtHost": ("hostEncryptionEnabled", "enableHostEncryption"),
        "gpuInstanceProfile": ("gpuInstance",),
        "scaleSetPriority": ("priority",),
        "scaleSetEvictionPolicy": ("evictionPolicy",),
    },
    flat={"gpuProfile": ("gpuDriver", "driver")},
)
# The default pool of a cluster is always a Linux system pool.
CLASSIC_CLUSTER = Vocabulary(
    names=CLASSIC_POOL.names,
    flat=CLASSIC_POOL.flat,
    fixed={"mode": "System", "osType": "Linux"},
)
