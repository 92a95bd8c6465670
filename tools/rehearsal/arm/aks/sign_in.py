"""Sign-in with Microsoft Entra: the user of a kubeconfig, and reviews of tokens."""

from typing import Any

from aiohttp import web

from aks_catalogue.shapes import mapping
from rehearsal.arm import bodies, errors
from rehearsal.arm.aks.places import CLUSTER_TYPE
from rehearsal.arm.home import Principal
from rehearsal.arm.request import Json
from rehearsal.arm.state import Store
from rehearsal.arm.tokens import SERVER_APPLICATION, Issuer

# The client application of AKS for interactive sign-in, the same in every tenant.
CLIENT_APPLICATION = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
ADMINISTRATORS = "system:masters"


def address(uid: str) -> str:
    """Returns the path to which a cluster's API server posts token reviews."""
    return f"/rehearsal/clusters/{uid}/tokenreviews"


def login(entra: Json) -> Json:
    """Returns the user section of a kubeconfig that signs in with kubelogin."""
    arguments = {
        "environment": "AzurePublicCloud",
        "server-id": SERVER_APPLICATION,
        "client-id": CLIENT_APPLICATION,
        "tenant-id": entra["tenantID"],
        "login": "devicecode",
    }
    named = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "args": ["get-token", *named],
            "command": "kubelogin",
            "env": None,
            "installHint": "See https://aka.ms/aks/kubelogin",
            "provideClusterInfo": False,
        }
    }


class Reviewer:
    """Reviews tokens for the API servers."""

    def __init__(self, store: Store, issuer: Issuer, principal: Principal) -> None:
        self._store = store
        self._issuer = issuer
        self._principal = principal

    async def answer(self, request: web.Request) -> web.Response:
        """Responds to a TokenReview of a cluster's API server."""
        review_request = mapping(bodies.parse(await request.read()))
        token = mapping(review_request.get("spec")).get("token")
        status = self._status(request.match_info["uid"], str(token))
        review = {
            "apiVersion": review_request.get("apiVersion"),
            "kind": "TokenReview",
            "status": status,
        }
        return web.json_response(review)

    def _status(self, uid: str, token: str) -> Json:
        # Read at each review, so that a change of the cluster applies at once.
        entra = self._entra(uid)
        if entra is None:
            return {"authenticated": False}
        try:
            self._issuer.check(f"Bearer {token}", SERVER_APPLICATION)
        except errors.ArmError:
            return {"authenticated": False}
        # Group members and role assignments are unknown here: the principal is an administrator
        # wherever there can be one.
        is_administrator = entra.get("adminGroupObjectIDs") or entra.get("enableAzureRBAC")
        groups = [ADMINISTRATORS] if is_administrator else []
        user: dict[str, Any] = {"username": self._principal.object_id, "groups": groups}
        return {"authenticated": True, "user": user}

    def _entra(self, uid: str) -> Json | None:
        for cluster in self._store.of_type(CLUSTER_TYPE):
            if cluster.properties["resourceUID"] == uid:
                entra: Json | None = cluster.properties.get("aadProfile")
                return entra
        return None
