"""The one subscription of a rehearsal cloud, and its tenant."""

from rehearsal.arm.request import Answer, Json, Request, Route


def get(request: Request) -> Answer:
    return Answer(200, _subscription(request))


def list_all(request: Request) -> Answer:
    return Answer(200, {"value": [_subscription(request)]})


def list_tenants(request: Request) -> Answer:
    tenant = request.backend.principal.directory
    return Answer(200, {"value": [{"id": f"/tenants/{tenant}", "tenantId": tenant}]})


def _subscription(request: Request) -> Json:
    return {
        "id": request.subscription,
        "subscriptionId": request.backend.principal.subscription,
        "tenantId": request.backend.principal.directory,
        "displayName": "Rehearsal",
        "state": "Enabled",
        "subscriptionPolicies": {"quotaId": "Rehearsal", "spendingLimit": "Off"},
        "authorizationSource": "RoleBased",
    }


# Relative to the server, not to a subscription.
ROUTES_ABOVE = (Route("GET", "/subscriptions", list_all), Route("GET", "/tenants", list_tenants))
ROUTES = (Route("GET", "", get),)
