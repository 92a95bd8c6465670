"""Whether the resource providers and preview features that a stack needs are registered."""

from collections.abc import Iterator, Sequence
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
from aksgpu.preflight.requirements import PlannedPool
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


def providers(facts: Facts) -> Iterator[Row]:
    """One answer per resource provider."""
    about = About("provider")
    for namespace, state in facts.providers.items():
        advice = f"`az provider register --namespace {namespace} --wait`"
        if isinstance(state, Unanswered):
            yield about.unknown(f"{namespace}: {state.reason}", advice, state.cause)
        elif state == _REGISTERED:
            yield about.ok(f"{namespace} is registered")
        elif state == "Registering":
            yield about.warning(f"{namespace} is being registered", f"wait for it: {advice}")
        else:
            yield about.problem(Cause.NOT_REGISTERED, f"{namespace} is {state}", advice)


def features(settings: Settings, pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """One answer per feature that a pool needs."""
    about = About("feature")
    for name, registers_it in requirements.features(settings, pools).items():
        if isinstance(facts.features, Unanswered):
            advice = f"run `az feature list --namespace {name.partition('/')[0]} --output table`"
            yield about.unknown(f"{name}: {facts.features.reason}", advice, facts.features.cause)
            continue
        state = facts.features.get(plain(name))
        if state == _REGISTERED and facts.is_rehearsal and not registers_it:
            what = f"{name} is registered here; on Azure, you have to do that once"
            yield about.warning(what, _register(name))
            continue
        row = _feature(about, name, state, registers_it=registers_it)
        if name == _INFINIBAND and row.cause and not registers_it:
            # AKS makes such pools all the same.
            without = "the nodes of a new pool may be on several InfiniBand networks"
            row = about.warning(f"{row.what}: {without}", row.advice)
        yield row


def _register(name: str) -> str:
    namespace, _, feature = name.partition("/")
    return f"`az feature register --namespace {namespace} --name {feature}`"


def _feature(about: About, name: str, state: str | None, *, registers_it: bool) -> Row:
    if state == _REGISTERED:
        return about.ok(f"{name} is registered")
    if state is None:
        return _not_there(about, name, registers_it=registers_it)
    if state == "Pending":
        what = f"{name} waits for approval by Azure"
        advice = "wait for the approval, or remove what needs the feature"
        return about.problem(Cause.NOT_REGISTERED, what, advice)
    if registers_it:
        return about.ok(f"{name} is {state}; the stack registers it")
    if state == "Registering":
        advice = "wait until it is registered: it takes minutes"
        return about.warning(f"{name} is being registered", advice)
    register = _register(name)
    if name in _ON_REQUEST:
        register = f"set {_ON_REQUEST[name]}, or run {register}"
    namespace = name.partition("/")[0]
    advice = f"{register}, wait until it is registered, then `az provider register -n {namespace}`"
    return about.problem(Cause.NOT_REGISTERED, f"{name} is {state}", advice)


def _not_there(about: About, name: str, *, registers_it: bool) -> Row:
    what = f"Azure knows no feature {name}"
    if name in _ON_REQUEST and not registers_it:
        return about.warning(what, "AKS may not need it any more: continue with `pulumi up`")
    advice = "check the name; Azure also withdraws features"
    return about.problem(Cause.NOT_REGISTERED, what, advice)
