"""What the SDK, pulumi_policy 1.21, has no other way for; nothing else of it is changed.

For each rule, the SDK converts the message of a resource and of its provider to Python again, which
is two thirds of the pack's time (https://github.com/pulumi/pulumi/issues/6500 is about the time of
policies). The result depends only on the message, and no rule changes it, so one result serves all
rules. If a later SDK renames these conversions, they are not cached, and all else stays the same.

The SDK gives a rule neither its own level nor those of others, and has no place for a line about
the whole configuration: the servicer notes them, and prints the line.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import Policy
from pulumi_policy import policy as sdk

from policies.configuration import CONFIGURATION

# The name of the line about the configuration, where the engine shows a rule's.
LINE = "pack-configuration"

_CONVERSIONS = ("deserialize_properties", "unknown_checking_proxy")
# The results of this request, each with its argument: another object can have its id later.
_KEPT: dict[Any, tuple[Any, Any]] = {}


def _once(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function, which converts each argument once in a request."""

    def converted(argument: Any, *more: Any) -> Any:
        key = convert, id(argument), more
        kept = _KEPT.get(key)
        if kept is None:
            kept = _KEPT[key] = argument, convert(argument, *more)
        return kept[1]

    return converted


class Servicer(sdk._PolicyAnalyzerServicer):
    """The gRPC service that the engine calls."""

    def __init__(self, name: str, version: str, policies: list[Policy], *more: Any) -> None:
        super().__init__(name, version, policies, *more)
        self._pack, self._version = name, version
        levels = {policy.name: policy.enforcement_level for policy in policies}
        CONFIGURATION.rules = {name: level.value for name, level in levels.items() if level}
        CONFIGURATION.levels, CONFIGURATION.settings, CONFIGURATION.excepted = {}, {}, {}

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        policies = request.policyConfig
        CONFIGURATION.levels = {
            name: self._convert_enforcement_level(policies[name].enforcementLevel).value
            for name in policies
        }
        CONFIGURATION.settings = {
            name: json_format.MessageToDict(policies[name].properties) for name in policies
        }
        return super().Configure(request, context)  # type: ignore[no-untyped-call]

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802
        _KEPT.clear()
        return super().Analyze(request, context)  # type: ignore[no-untyped-call]

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        _KEPT.clear()
        response: Any = super().AnalyzeStack(request, context)  # type: ignore[no-untyped-call]
        if line := CONFIGURATION.line():
            response.diagnostics.append(
                proto.AnalyzeDiagnostic(
                    policyName=LINE,
                    policyPackName=self._pack,
                    policyPackVersion=self._version,
                    message=line,
                    enforcementLevel=proto.ADVISORY,
                )
            )
        return response


def extend() -> None:
    """Makes the SDK use this servicer, and convert once, for the whole process."""
    setattr(sdk, "_PolicyAnalyzerServicer", Servicer)  # noqa: B010 (not exported)
    for name in _CONVERSIONS:
        if hasattr(sdk, name):
            setattr(sdk, name, _once(getattr(sdk, name)))
    if hasattr(sdk, "json_format"):
        to_dict = _once(sdk.json_format.MessageToDict)
        names = {**vars(sdk.json_format), "MessageToDict": to_dict}
        setattr(sdk, "json_format", SimpleNamespace(**names))  # noqa: B010 (not exported)
