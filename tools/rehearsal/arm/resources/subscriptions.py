"""The one subscription of a rehearsal cloud, and its tenant."""

from aks_catalogue import regions
from rehearsal.arm.request import Answer, Json, Request, Route


def get(request: Request) -> Answer:
    return Answer(200, _subscription(request))


def list_all(request: Request) -> Answer:
    return Answer(200, {"value": [_subscription(request)]})


def list_tenants(request: Request) -> Answer:
    tenant = request.backend.principal.directory
    return Answer(200, {"value": [{"id": f"/tenants/{tenant}", "tenantId": tenant}]})


def list_locations(request: Request) -> Answer:
    return Answer(
        200, {"value": [_location(request, region) for region in regions.regions().values()]}
    )


def _location(request: Request, region: regions.Region) -> Json:
    zones = [
        {"logicalZone": zone, "physicalZone": f"{region.name}-az{zone}"} for zone in region.zones
    ]
    return {
        "id": f"{request.subscription}/locations/{region.name}",
        "name": region.name,
        "type": "Region",
        "displayName": region.display_name,
        "regionalDisplayName": region.display_name,
        "metadata": {"regionType": "Physical"},
        **({"availabilityZoneMappings": zones} if zones else {}),
    }


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


# These paths are relative to the server, not to a subscription.
ROUTES_ABOVE = (Route("GET", "/subscriptions", list_all), Route("GET", "/tenants", list_tenants))
ROUTES = (Route("GET", "", get), Route("GET", "/locations", list_locations))
