"""What the pack changes of its SDK, pulumi_policy 1.21, and where it reaches into it.

It keeps how the pack is configured: the SDK tells a rule neither its level nor of other rules.

It spares the SDK from converting a resource anew: that turns the engine's message of a resource and
that of its provider, into Python once for each rule of a pack; with as many rules as here that is
most of what the pack costs. What is made of a message depends on nothing else, and no rule changes
it: one result serves all rules. Where a later SDK has the names of these conversions no more,
nothing is spared, and nothing else is different.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from google.protobuf import json_format
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy import policy as sdk

from policies.exceptions import CONFIGURED, TELLS

# A resource and its provider.
_OF_A_RESOURCE = 2
_FUNCTIONS = ("deserialize_properties", "unknown_checking_proxy")


class LastResults(threading.local):
    """A function of one argument that gives for the same object the same result, for a while."""

    # How many results are kept.
    kept = _OF_A_RESOURCE

    def __init__(self, convert: Callable[..., Any]) -> None:
        self._convert = convert
        # The argument is held as well: its identity is its own for as long as it lives.
        self._results: OrderedDict[int, tuple[Any, Any]] = OrderedDict()

    def __call__(self, argument: Any, *more: Any, **named: Any) -> Any:
        if more or named:
            return self._convert(argument, *more, **named)
        if id(argument) not in self._results:
            self._results[id(argument)] = argument, self._convert(argument)
            while len(self._results) > LastResults.kept:
                self._results.popitem(last=False)
        return self._results[id(argument)][1]


class Servicer(sdk._PolicyAnalyzerServicer):
    """What the engine talks to."""

    def __init__(self, name: str, version: str, policies: list[Policy], *more: Any) -> None:
        super().__init__(name, version, policies, *more)
        levels = {one.name: one.enforcement_level for one in policies}
        CONFIGURED.rules = {name: level.value for name, level in levels.items() if level}
        CONFIGURED.defaults = {
            one.name: {
                name: setting["default"]
                for name, setting in one.config_schema.properties.items()
                if "default" in setting
            }
            for one in policies
            if one.config_schema
        }
        CONFIGURED.levels, CONFIGURED.settings, CONFIGURED.excepted = {}, {}, {}

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        policies = request.policyConfig
        CONFIGURED.levels = {
            name: self._convert_enforcement_level(policies[name].enforcementLevel).value
            for name in policies
        }
        CONFIGURED.settings = {
            name: json_format.MessageToDict(policies[name].properties) for name in policies
        }
        return super().Configure(request, context)  # type: ignore[no-untyped-call]

    def _get_enforcement_level(self, policy: Policy) -> EnforcementLevel:
        """What tells of all that is switched off is not switched off with it."""
        level: EnforcementLevel = super()._get_enforcement_level(policy)
        is_off = level is EnforcementLevel.DISABLED
        return EnforcementLevel.ADVISORY if is_off and policy.name == TELLS else level

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Each rule on the stack has all of its resources converted, one after the other."""
        LastResults.kept = len(request.resources) * _OF_A_RESOURCE
        try:
            return super().AnalyzeStack(request, context)  # type: ignore[no-untyped-call]
        finally:
            LastResults.kept = _OF_A_RESOURCE


def note_configuration() -> None:
    """From now on, for this process: it is the pack's alone."""
    setattr(sdk, "_PolicyAnalyzerServicer", Servicer)  # noqa: B010 (it exports no such name)


def convert_once() -> None:
    """From now on, for this process: it is the pack's alone."""
    for name in _FUNCTIONS:
        if hasattr(sdk, name):
            setattr(sdk, name, LastResults(getattr(sdk, name)))
    if hasattr(sdk, "json_format"):
        kept = {
            **vars(sdk.json_format),
            "MessageToDict": LastResults(sdk.json_format.MessageToDict),
        }
        setattr(sdk, "json_format", SimpleNamespace(**kept))  # noqa: B010 (it exports no such name)
