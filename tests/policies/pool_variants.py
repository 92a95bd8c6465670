"""The same pool in every form that a program can give it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.policies.policy_harness import Resource

# A pool that no rule has anything against.
VALID: Mapping[str, Any] = {
    "agentPoolName": "gpu",
    "vmSize": "Standard_NC8as_T4_v3",
    "osType": "Linux",
    "mode": "User",
    "count": 0,
    "enableAutoScaling": True,
    "minCount": 0,
    "maxCount": 2,
    "nodeTaints": ["sku=gpu:NoSchedule"],
    "gpuProfile": {"driver": "Install"},
    "enableEncryptionAtHost": True,
    "orchestratorVersion": "1.35",
}
CPU = "Standard_D4ds_v5"

# What the classic provider calls them, from its documentation; newer and older names.
_CLASSIC_NEW = {
    "agentPoolName": "name",
    "count": "nodeCount",
    "enableAutoScaling": "autoScalingEnabled",
    "enableEncryptionAtHost": "hostEncryptionEnabled",
    "gpuInstanceProfile": "gpuInstance",
    "scaleSetPriority": "priority",
    "scaleSetEvictionPolicy": "evictionPolicy",
}
_CLASSIC_OLD = _CLASSIC_NEW | {
    "enableAutoScaling": "enableAutoScaling",
    "enableEncryptionAtHost": "enableHostEncryption",
}
# What it has no word for, in pools of their own and in clusters' own.
_NOT_CLASSIC = frozenset({"virtualMachinesProfile", "nodeInitializationTaints"})
_NOT_IN_CLASSIC_CLUSTERS = _NOT_CLASSIC | {
    "osType", "mode", "nodeTaints", "scaleSetPriority", "scaleSetEvictionPolicy",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Form:
    """One type of resource, and how a pool is written in it."""

    type: str
    inline: str = ""
    names: Mapping[str, str]
    lacks: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        if not self.inline:
            return "This pool"
        index = "" if self.inline == "defaultNodePool" else "[0]"
        return f"The inline pool gpu ({self.inline}{index})"

    def said(self, name: str) -> str:
        return self.names.get(name, name)

    def resource(self, pool: Mapping[str, Any], **more: Any) -> Resource:
        written = {self.said(name): value for name, value in pool.items()}
        if self.inline and "agentPoolName" in written:
            written["name"] = written.pop("agentPoolName")
        if self.names and "gpuProfile" in written:
            driver = written.pop("gpuProfile")
            written["gpuDriver"] = driver["driver"] if isinstance(driver, dict) else driver
        if self.inline == "defaultNodePool":
            kept = {name: value for name, value in written.items() if name not in self.lacks}
            return Resource(type=self.type, properties={"defaultNodePool": kept}, **more)
        if self.inline:
            return Resource(type=self.type, properties={self.inline: [written]}, **more)
        return Resource(type=self.type, properties=written, **more)


_PLAIN: Mapping[str, str] = {}
_NATIVE = (
    "azure-native:containerservice:{}",
    "azure-native:containerservice/v20250901:{}",
    "azure-native:containerservice/v20240902preview:{}",
    "azure-native_containerservice_v20250901:containerservice:{}",
    "aks-preview:containerservice:{}",
)
OWN_FORMS = [
    *(Form(type=token.format("AgentPool"), names=_PLAIN) for token in _NATIVE),
    *(
        Form(
            type="azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool",
            names=names,
            lacks=_NOT_CLASSIC,
        )
        for names in (_CLASSIC_NEW, _CLASSIC_OLD)
    ),
]
INLINE_FORMS = [
    *(
        Form(type=token.format("ManagedCluster"), inline="agentPoolProfiles", names=_PLAIN)
        for token in _NATIVE
    ),
    *(
        Form(
            type="azure:containerservice/kubernetesCluster:KubernetesCluster",
            inline="defaultNodePool",
            names=names,
            lacks=_NOT_IN_CLASSIC_CLUSTERS,
        )
        for names in (_CLASSIC_NEW, _CLASSIC_OLD)
    ),
]
FORMS = [*OWN_FORMS, *INLINE_FORMS]

CLASSIC_CLUSTERS = INLINE_FORMS[-2:]

AGENT_POOL = OWN_FORMS[0]
CLUSTER = INLINE_FORMS[0]


Changes = Mapping[str, Any]


def form_id(form: Form) -> str:
    old = "-old" if form.names is _CLASSIC_OLD else ""
    return f"{form.type}{old}"


def every_form(forms: Iterable[Form] = FORMS) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("form", forms, ids=form_id)


def pool_cases(
    cases: Iterable[tuple[Changes, list[tuple[str, ...]]]], form: Form = AGENT_POOL
) -> pytest.MarkDecorator:
    """Each case as `pool` and `expected`: the words of each finding (see `mention`).

    A case is what is changed of the valid pool. All forms of pools are read in tests/aks_pools.
    """
    return pytest.mark.parametrize(
        ("pool", "expected"),
        [
            pytest.param(form.resource(changed(changes)), words, id=str(number))
            for number, (changes, words) in enumerate(cases)
        ],
    )


def changed(changes: Changes) -> dict[str, Any]:
    """The valid pool with changes; what is changed to None is left out."""
    pool = {**VALID, **changes}
    return {name: value for name, value in pool.items() if value is not None}
