"""Registration of preview features and resource providers, which takes a while.

Both keep the times of their last registration. A feature takes effect only if its resource provider
is registered again (`asked`) after the feature has become Registered (`due`).
"""

import re
import tomllib
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from aks_catalogue import regions
from aks_catalogue.regions import plain
from rehearsal.arm import errors
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resources import stored
from rehearsal.arm.state import Registration, Store

FEATURE_SECONDS = 10.0
PROVIDER_SECONDS = 4.0

FEATURE_TYPE = "Microsoft.Features/providers/features"
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FEATURES: dict[str, list[str]] = _TABLES["features"]
PROVIDERS: dict[str, dict[str, str]] = {
    **_TABLES["providers"],
    **{namespace: {} for namespace in stored.PROVIDERS},
}


def list_features(request: Request) -> Answer:
    namespaces = [_namespace(request, FEATURES)] if "namespace" in request.names else list(FEATURES)
    pairs = [(namespace, name) for namespace in namespaces for name in FEATURES[namespace]]
    return Answer(200, {"value": [_feature(request, *pair) for pair in pairs]})


def feature(request: Request, *, registered: bool | None = None) -> Answer:
    """Shows a feature, after registering or unregistering it if requested."""
    namespace = _namespace(request, FEATURES)
    what = f"the feature {namespace}/{request.names['feature']}"
    name = _azure_spelling(FEATURES[namespace], request.names["feature"], what)
    key = f"{namespace}/{name}"
    present = request.store.registration(key)
    is_registered = present is not None and present.registered
    # A repeated request does not restart the registration.
    if registered not in (None, is_registered):
        due = request.due(FEATURE_SECONDS)
        request.store.register(key, Registration(registered, request.now, due))
    return Answer(200, _feature(request, namespace, name))


def _feature(request: Request, namespace: str, name: str) -> Json:
    key, features = f"{namespace}/{name}", OF_A_PROVIDER.format(namespace=namespace)
    at_first = "Registered" if _is_there_from_the_start(request, key) else "NotRegistered"
    return {
        "id": f"{request.subscription}{features}/{name}",
        "name": key,
        "type": FEATURE_TYPE,
        "properties": {"state": _state(request, key, at_first)},
    }


def has_taken_over(request: Request, namespace: str, feature: str) -> bool:
    """Returns whether the provider was registered again after the feature was registered."""
    key = f"{namespace}/{feature}"
    known, again = request.store.registration(key), request.store.registration(namespace)
    if known is None:
        return _is_there_from_the_start(request, key)
    if again is None or not (known.registered and again.registered):
        return False
    return known.due <= again.asked <= request.now


def _is_there_from_the_start(request: Request, key: str) -> bool:
    return plain(key) in map(plain, request.offers.script.features)


def list_providers(request: Request) -> Answer:
    return Answer(200, {"value": [_provider(request, namespace) for namespace in PROVIDERS]})


def provider(request: Request, *, registered: bool | None = None) -> Answer:
    """Shows a resource provider, after registering or unregistering it if requested."""
    namespace = _namespace(request, PROVIDERS)
    if registered is not None:
        there = "Registered" if registered else "Unregistered"
        # A registered provider stays Registered, but takes over new features.
        is_there = _state(request, namespace, "Registered") == there
        due = request.now if is_there else request.due(PROVIDER_SECONDS)
        request.store.register(namespace, Registration(registered, request.now, due))
    return Answer(200, _provider(request, namespace))


def refuse_unregistered(store: Store, path: str, now: float) -> None:
    """Refuses a request to a provider that is not registered in the subscription."""
    matched = OF_SOME_PROVIDER.search(path)
    registration = store.registration(matched[1]) if matched else None
    if matched is None or registration is None or registration.registered:
        return
    namespace = next(name for name in PROVIDERS if name.lower() == matched[1].lower())
    if namespace not in ALWAYS_THERE and now >= registration.due:
        raise errors.ArmError(errors.UNREGISTERED, namespace=namespace)


def _provider(request: Request, namespace: str) -> Json:
    types = [
        {
            "resourceType": kind,
            "locations": [region.display_name for region in regions.regions().values()],
            "apiVersions": [request.api_version],
            "capabilities": capabilities,
        }
        for kind, capabilities in PROVIDERS[namespace].items()
    ]
    return {
        "id": f"{request.subscription}/providers/{namespace}",
        "namespace": namespace,
        "authorizations": _TABLES["authorizations"].get(namespace, []),
        "resourceTypes": types,
        "registrationState": _state(request, namespace, "Registered"),
        "registrationPolicy": "RegistrationRequired",
    }


def _namespace(request: Request, known: Iterable[str]) -> str:
    requested = request.names["namespace"]
    return _azure_spelling(known, requested, f"the resource provider {requested}")


def _azure_spelling(names: Iterable[str], requested: str, what: str) -> str:
    """Returns a requested name in Azure's spelling; the request may use any case."""
    for name in names:
        if name.lower() == requested.lower():
            return name
    raise errors.ArmError(errors.NOT_REHEARSED, what=what)


def _state(request: Request, key: str, at_first: str) -> str:
    registration = request.store.registration(key)
    if registration is None:
        return at_first
    stem = "Register" if registration.registered else "Unregister"
    return f"{stem}ed" if request.now >= registration.due else f"{stem}ing"


# A request to a provider; those about a provider are Resource Manager's.
OF_SOME_PROVIDER = re.compile(r"/providers/([^/]+)/(?!(un)?register$)", re.IGNORECASE)
# Resource Manager's own providers need no registration.
ALWAYS_THERE = frozenset(["Microsoft.Features", "Microsoft.Resources"])
OF_A_PROVIDER = "/providers/Microsoft.Features/providers/{namespace}/features"
ROUTES = (
    Route("GET", "/providers/Microsoft.Features/features", list_features),
    Route("GET", OF_A_PROVIDER, list_features),
    Route("GET", f"{OF_A_PROVIDER}/{{feature}}", feature),
    Route("POST", f"{OF_A_PROVIDER}/{{feature}}/register", partial(feature, registered=True)),
    Route("POST", f"{OF_A_PROVIDER}/{{feature}}/unregister", partial(feature, registered=False)),
    Route("GET", "/providers", list_providers),
    Route("GET", "/providers/{namespace}", provider),
    Route("POST", "/providers/{namespace}/register", partial(provider, registered=True)),
    Route("POST", "/providers/{namespace}/unregister", partial(provider, registered=False)),
)
