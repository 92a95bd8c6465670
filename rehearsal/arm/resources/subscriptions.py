"""The one subscription of a rehearsal cloud, and its tenant."""

from rehearsal.arm.call import Answer, Call, Json
from rehearsal.arm.routes import Route


def get(call: Call) -> Answer:
    return Answer(200, _subscription(call))


def list_all(call: Call) -> Answer:
    return Answer(200, {"value": [_subscription(call)]})


def list_tenants(call: Call) -> Answer:
    tenant = call.principal.directory
    return Answer(200, {"value": [{"id": f"/tenants/{tenant}", "tenantId": tenant}]})


def _subscription(call: Call) -> Json:
    return {
        "id": call.subscription,
        "subscriptionId": call.principal.subscription,
        "tenantId": call.principal.directory,
        "displayName": "Rehearsal",
        "state": "Enabled",
        "subscriptionPolicies": {"quotaId": "Rehearsal", "spendingLimit": "Off"},
        "authorizationSource": "RoleBased",
    }


# Relative to the server, not to a subscription.
ROUTES_ABOVE = (Route("GET", "/subscriptions", list_all), Route("GET", "/tenants", list_tenants))
ROUTES = (Route("GET", "", get),)
