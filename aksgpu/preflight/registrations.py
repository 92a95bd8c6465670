"""Whether the resource providers and preview features are registered that a stack needs."""

from collections.abc import Iterator

from aksgpu.outcome import Cause
from aksgpu.preflight import wanted
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.rows import About, Row
from catalogue.regions import plain
from settings import Settings

_REGISTERED = "Registered"


def providers(facts: Facts) -> Iterator[Row]:
    """Of each resource provider, whether it is registered."""
    for namespace, state in facts.providers.items():
        about = About("provider")
        advice = f"`az provider register --namespace {namespace} --wait`"
        if isinstance(state, Unanswered):
            yield about.unknown(f"{namespace}: {state.reason}", advice, state.cause)
        elif state == _REGISTERED:
            yield about.ok(f"{namespace} is registered")
        elif state == "Registering":
            yield about.warning(f"{namespace} is being registered", f"wait for it: {advice}")
        else:
            yield about.problem(Cause.NOT_REGISTERED, f"{namespace} is {state}", advice)


def features(settings: Settings, facts: Facts) -> Iterator[Row]:
    """Of each feature that a pool needs, whether it is registered."""
    for name, by_itself in wanted.features(settings).items():
        about = About("feature")
        if isinstance(facts.features, Unanswered):
            advice = f"`az feature list --namespace {name.partition('/')[0]} --output table` tells"
            yield about.unknown(f"{name}: {facts.features.reason}", advice, facts.features.cause)
        else:
            yield _feature(about, name, facts.features.get(plain(name)), by_itself=by_itself)


def _feature(about: About, name: str, state: str | None, *, by_itself: bool) -> Row:
    namespace, _, feature = name.partition("/")
    register = f"`az feature register --namespace {namespace} --name {feature}`"
    if state == _REGISTERED:
        return about.ok(f"{name} is registered")
    if state is None:
        advice = "is the name right? Features are withdrawn, too"
        return about.problem(Cause.NOT_REGISTERED, f"Azure knows no feature {name}", advice)
    if by_itself and state != "Pending":
        return about.ok(f"{name} is {state}; the stack registers it by itself")
    if state == "Registering":
        return about.warning(f"{name} is being registered", "wait until it is: it takes minutes")
    if state == "Pending":
        what = f"{name} waits for the approval of somebody at Azure"
        return about.problem(Cause.NOT_REGISTERED, what, "wait for it, or do without the feature")
    advice = f"{register}, and when it is, `az provider register --namespace {namespace}`"
    return about.problem(Cause.NOT_REGISTERED, f"{name} is {state}", advice)
