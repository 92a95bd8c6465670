"""The admission policies that keep the GPUs of a node for those who asked for them.

They are written in CEL, and the API server evaluates them itself: nothing runs on the cluster.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from aks_catalogue.device_plugin import PREFIX
from aks_catalogue.gpu_isolation import (
    DEVICES,
    DRIVER_ALONE,
    EXEMPT,
    LABEL,
    VARIABLE,
    VOID,
)

# As the Kubernetes API has it.
Spec = Any

# A request for containers that debug a running pod, of which only the new ones count.
_DEBUGS = 'request.?subResource.orValue("") == "ephemeralcontainers"'
_IS_OLD = "oldObject.?spec.ephemeralContainers.orValue([]).exists(old, old.name == c.name)"
_CONTAINERS = (
    f"{_DEBUGS} ? dyn(object.spec.?ephemeralContainers.orValue([])).filter(c, !{_IS_OLD}) "
    ": dyn(object.spec.?initContainers.orValue([])) + dyn(object.spec.containers)"
)
_ASKS = (
    "c.?resources.limits.orValue({}).exists(name, "
    f'name.startsWith("{PREFIX}") && string(c.resources.limits[name]) != "0")'
)
_NAMES = f'c.?env.orValue([]).exists(e, e.name == "{VARIABLE}")'
_ADVICE = (
    f"ask for {PREFIX}gpu in resources.limits, or have an administrator label the namespace "
    f"{LABEL}={EXEMPT}"
)
_PODS = ({"CREATE": "pods"}, {"UPDATE": "pods/ephemeralcontainers"})
# The files of devices, and the folders that they are in, however a path is written.
_PATH_OF_DEVICES = "^[/.]*(dev[/.]*(" + DEVICES.rpartition("/")[2] + ".*)?)?$"

# What no pod may have, as a condition on one of its containers, and what it then does.
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        f'c.?env.orValue([]).exists(e, e.name == "{VARIABLE}" && '
        f'!(has(e.value) && e.value in ["{VOID}", "{DRIVER_ALONE}"]))': f"sets {VARIABLE}",
        'c.?envFrom.orValue([]).exists(s, s.?prefix.orValue("") != "" && '
        f'"{VARIABLE}".startsWith(s.prefix))': f"can get {VARIABLE} by envFrom with a prefix",
        "c.?securityContext.privileged.orValue(false)": "is privileged, and has all devices",
    }
)


def hide_gpus(exempt: Sequence[str]) -> Spec:
    """Returns the policy that sets the variable where nobody asked for GPUs."""
    created = (_set_in(kind, f"!{_ASKS} && !{_NAMES}") for kind in ("containers", "initContainers"))
    debugging = _set_in("ephemeralContainers", f"!{_NAMES} && !{_IS_OLD}")
    expression = f"{_DEBUGS} ? {debugging} : {' + '.join(created)}"
    return {
        "matchConstraints": _matching(exempt, *_PODS),
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
        "failurePolicy": "Fail",
        # Containers that a webhook adds later are seen too.
        "reinvocationPolicy": "IfNeeded",
    }


def _set_in(containers: str, where: str) -> str:
    """Returns the change of a list of containers: the variable, for each that fits."""
    entry = f'{{"name": "{VARIABLE}", "value": "{VOID}"}}'
    path = f'"/spec/{containers}/" + string(i) + "/env'
    return (
        f"object.spec.?{containers}.orValue([]).transformList(i, c, {where}, "
        f'c.?env.orValue([]).size() > 0 ? JSONPatch{{op: "add", path: {path}/-", value: {entry}}} '
        f': JSONPatch{{op: "add", path: {path}", value: [{entry}]}})'
    )


def refuse_other_ways(exempt: Sequence[str]) -> Spec:
    """Returns the policy that refuses pods with another way to GPUs than to ask for them."""
    return {
        "matchConstraints": _matching(exempt, *_PODS),
        "variables": [{"name": "containers", "expression": _CONTAINERS}],
        "validations": [
            *(
                {
                    "expression": f"!variables.containers.exists(c, {condition})",
                    "messageExpression": (
                        '"the container " + variables.containers.filter(c, '
                        f'{condition})[0].name + " {does}, which gives it GPUs that it did not '
                        f'ask for: {_ADVICE}"'
                    ),
                }
                for condition, does in _REFUSED.items()
            ),
            {
                "expression": (
                    f"{_DEBUGS} || "
                    "!object.spec.?volumes.orValue([]).exists(v, "
                    f'has(v.hostPath) && v.hostPath.path.matches("{_PATH_OF_DEVICES}"))'
                ),
                "message": f"a volume has the devices of its node: {_ADVICE}",
            },
        ],
        "failurePolicy": "Fail",
    }


def refuse_variables(exempt: Sequence[str]) -> Spec:
    """Returns the policy for what pods take all their variables from."""
    return {
        "matchConstraints": _matching(
            exempt, {"CREATE": "configmaps"}, {"UPDATE": "configmaps"}, {"CREATE": "secrets"},
            {"UPDATE": "secrets"},
        ),
        "validations": [
            {
                "expression": f'!("{VARIABLE}" in object.?data.orValue({{}}))',
                "message": f"the key {VARIABLE} gives pods GPUs that they did not ask for: "
                f"remove it; {_ADVICE}",
            }
        ],
        "failurePolicy": "Fail",
    }  # fmt: skip


def _matching(exempt: Sequence[str], *requests: Mapping[str, str]) -> Spec:
    """Returns which requests a policy is for: in all namespaces but these, and those labeled."""
    return {
        "namespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [*exempt]},
                {"key": LABEL, "operator": "NotIn", "values": [EXEMPT]},
            ]
        },
        "resourceRules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": [operation],
                "resources": [resource],
            }
            for request in requests
            for operation, resource in request.items()
        ],
    }
