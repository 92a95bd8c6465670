"""Whether the resource providers and preview features that a stack needs are registered."""

from collections.abc import Iterator
from types import MappingProxyType

from aks_catalogue.nodes import (
    INFINIBAND_FEATURE,
    INFINIBAND_NAMESPACE,
    MANAGED_GPU_FEATURE,
    MANAGED_GPU_NAMESPACE,
)
from aks_catalogue.regions import plain
from aksgpu.outcome import Cause
from aksgpu.preflight import requirements
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings

_REGISTERED = "Registered"
_INFINIBAND = f"{INFINIBAND_NAMESPACE}/{INFINIBAND_FEATURE}"
# The setting with which the stack registers a feature.
_ON_REQUEST = MappingProxyType(
    {
        f"{MANAGED_GPU_NAMESPACE}/{MANAGED_GPU_FEATURE}": "managedGpuFeature: register",
        _INFINIBAND: "infinibandFeature: register",
    }
)
# What pools are like without a feature, if AKS makes them all the same.
_WITHOUT = MappingProxyType(
    {_INFINIBAND: "the nodes of a new pool may be on several InfiniBand networks"}
)


def providers(facts: Facts) -> Iterator[Row]:
    """One answer per resource provider."""
    for namespace, state in facts.providers.items():
        about = About("provider")
        advice = f"`az provider register --namespace {namespace} --wait`"
        if isinstance(state, Unanswered):
            yield about.unknown(f"{namespace}: {state.reason}", advice, state.cause)
        elif state == _REGISTERED:
            yield about.ok(f"{namespace} is registered")
        elif state == "Registering":
            yield about.warning(
                f"{namespace} is being registered", f"wait until it is registered: {advice}"
            )
        else:
            yield about.problem(Cause.NOT_REGISTERED, f"{namespace} is {state}", advice)


def features(settings: Settings, facts: Facts) -> Iterator[Row]:
    """One answer per feature that a pool needs."""
    for name, registers_it in requirements.features(settings).items():
        about = About("feature")
        if isinstance(facts.features, Unanswered):
            advice = (
                f"run `az feature list --namespace {name.partition('/')[0]} --output table` to "
                "list the features"
            )
            yield about.unknown(f"{name}: {facts.features.reason}", advice, facts.features.cause)
        else:
            state = facts.features.get(plain(name))
            if state == _REGISTERED and facts.is_rehearsal and not registers_it:
                yield about.warning(
                    f"{name} is registered here; on Azure, you have to do that once",
                    _register(name),
                )
            else:
                row = _feature(about, name, state, registers_it=registers_it)
                if name in _WITHOUT and row.cause and not registers_it:
                    row = about.warning(f"{row.what}: {_WITHOUT[name]}", row.advice)
                yield row


def _register(name: str) -> str:
    namespace, _, feature = name.partition("/")
    return f"`az feature register --namespace {namespace} --name {feature}`"


def _feature(about: About, name: str, state: str | None, *, registers_it: bool) -> Row:
    namespace = name.partition("/")[0]
    is_on_request = name in _ON_REQUEST
    register = _register(name)
    if state == _REGISTERED:
        return about.ok(f"{name} is registered")
    if state is None:
        what = f"Azure knows no feature {name}"
        advice = "check the name; Azure also withdraws features"
        return (
            about.warning(what, "AKS may not need it any more: continue with `pulumi up`")
            if is_on_request and not registers_it
            else about.problem(Cause.NOT_REGISTERED, what, advice)
        )
    if registers_it and state != "Pending":
        return about.ok(f"{name} is {state}; the stack registers it")
    if state == "Registering":
        return about.warning(
            f"{name} is being registered", "wait until it is registered: it takes minutes"
        )
    if state == "Pending":
        what = f"{name} waits for approval by Azure"
        return about.problem(
            Cause.NOT_REGISTERED, what, "wait for the approval, or remove what needs the feature"
        )
    if is_on_request:
        register = f"set {_ON_REQUEST[name]}, or run {register}"
    advice = f"{register}, wait until it is registered, then `az provider register -n {namespace}`"
    return about.problem(Cause.NOT_REGISTERED, f"{name} is {state}", advice)
