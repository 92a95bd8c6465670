"""What the SDK, pulumi_policy 1.21, has no other way for; nothing else of it is changed.

For each rule, the SDK converts the message of a resource and of its provider to Python again, which
is two thirds of the pack's time (https://github.com/pulumi/pulumi/issues/6500 is about the time of
policies). The result depends only on the message, and no rule changes it, so one result serves all
rules. If a later SDK renames these conversions, they are not cached, and all else stays the same.

The SDK gives a rule neither its own level nor those of others, and has no place for a line about
the whole configuration: the servicer notes them, and prints the line.
"""

import threading
from collections import OrderedDict
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

# The message of a resource, and the one of its provider.
_MESSAGES_OF_A_RESOURCE = 2
_FUNCTIONS = ("deserialize_properties", "unknown_checking_proxy")


class LastResults(threading.local):
    """Caches the last results of a function of one argument, by the argument's identity."""

    # The number of results.
    limit = _MESSAGES_OF_A_RESOURCE

    def __init__(self, convert: Callable[..., Any]) -> None:
        self._convert = convert
        # With the argument: another object can have its id only after it is freed.
        self._results: OrderedDict[int, tuple[Any, Any]] = OrderedDict()

    def __call__(self, argument: Any, *more: Any, **named: Any) -> Any:
        if more or named:
            return self._convert(argument, *more, **named)
        if id(argument) not in self._results:
            self._results[id(argument)] = argument, self._convert(argument)
            while len(self._results) > LastResults.limit:
                self._results.popitem(last=False)
        return self._results[id(argument)][1]


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

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Keeps the results of all resources, which each rule converts."""
        LastResults.limit = len(request.resources) * _MESSAGES_OF_A_RESOURCE
        try:
            response: Any = super().AnalyzeStack(request, context)  # type: ignore[no-untyped-call]
        finally:
            LastResults.limit = _MESSAGES_OF_A_RESOURCE
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
    """Makes the SDK use this servicer, and cache its conversions, for the whole process."""
    setattr(sdk, "_PolicyAnalyzerServicer", Servicer)  # noqa: B010 (not exported)
    for name in _FUNCTIONS:
        if hasattr(sdk, name):
            setattr(sdk, name, LastResults(getattr(sdk, name)))
    if hasattr(sdk, "json_format"):
        names = {
            **vars(sdk.json_format),
            "MessageToDict": LastResults(sdk.json_format.MessageToDict),
        }
        setattr(sdk, "json_format", SimpleNamespace(**names))  # noqa: B010 (not exported)
