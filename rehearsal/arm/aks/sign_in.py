"""Sign-in with Entra: what a kubeconfig says of it, and what an API server asks about a token."""

from typing import Any

from aiohttp import web

from catalogue.shapes import mapping
from rehearsal.arm import bodies, errors
from rehearsal.arm.aks import clusters
from rehearsal.arm.home import Principal
from rehearsal.arm.request import Json
from rehearsal.arm.state import Store
from rehearsal.arm.tokens import SERVER_APPLICATION, Issuer

# The application of AKS for which people sign in with a browser or a code, in every tenant.
CLIENT_APPLICATION = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
ADMINISTRATORS = "system:masters"


def address(uid: str) -> str:
    """Where the API server of a cluster asks whose token it has been shown."""
    return f"/rehearsal/clusters/{uid}/tokenreviews"


def login(entra: Json) -> Json:
    """What a user has in a kubeconfig, in the place of a certificate."""
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
    """Answers the API servers."""

    def __init__(self, store: Store, issuer: Issuer, principal: Principal) -> None:
        self._store = store
        self._issuer = issuer
        self._principal = principal

    async def answer(self, request: web.Request) -> web.Response:
        """Answers a TokenReview of a cluster's API server."""
        asked = mapping(bodies.parsed(await request.read()))
        token = mapping(asked.get("spec")).get("token")
        status = self._status(request.match_info["uid"], str(token))
        review = {"apiVersion": asked.get("apiVersion"), "kind": "TokenReview", "status": status}
        return web.json_response(review)

    def _status(self, uid: str, token: str) -> Json:
        # As it is now: a change of the cluster counts from the next question on.
        entra = self._entra(uid)
        if entra is None:
            return {"authenticated": False}
        try:
            self._issuer.check(f"Bearer {token}", SERVER_APPLICATION)
        except errors.ArmError:
            return {"authenticated": False}
        # Nobody knows who is in a group, or which roles Azure has assigned: it is an administrator
        # wherever there can be any.
        is_administrator = entra.get("adminGroupObjectIDs") or entra.get("enableAzureRBAC")
        groups = [ADMINISTRATORS] if is_administrator else []
        user: dict[str, Any] = {"username": self._principal.object_id, "groups": groups}
        return {"authenticated": True, "user": user}

    def _entra(self, uid: str) -> Json | None:
        for cluster in self._store.of_type(clusters.TYPE):
            if cluster.properties["resourceUID"] == uid:
                entra: Json | None = cluster.properties.get("aadProfile")
                return entra
        return None
