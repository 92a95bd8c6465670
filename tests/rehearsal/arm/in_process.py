"""Resource Manager without a server: requests are answered in this process, at once."""

import itertools
import json
from pathlib import Path
from typing import Any

from aiohttp.test_utils import make_mocked_request
from cryptography.hazmat.primitives.asymmetric import rsa

from rehearsal.arm import errors
from rehearsal.arm.aks.control_planes import FleetControlPlanes
from rehearsal.arm.front import Front
from rehearsal.arm.home import Principal
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import Offers
from rehearsal.arm.request import Backend
from rehearsal.arm.state import Store
from rehearsal.arm.tokens import Issuer
from rehearsal.control_planes.desired_state import Era
from tests.rehearsal.conftest import Reply

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/group"
# Nobody signs in here.
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLUSTERS = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters"


class Arm:
    """One cloud with a resource group, whose operations end before the next request."""

    def __init__(self, era: Era = Era.TODAY, store: Store | None = None) -> None:
        store = store or Store(Path(":memory:"))
        principal = Principal("t", SUBSCRIPTION, SUBSCRIPTION, "c", "o", "s")
        offers = Offers(era, OfferScript())
        control_planes = FleetControlPlanes(store, lambda: offers, None)
        backend = Backend(store, principal, control_planes, lambda: offers, time_scale=0.0)
        self._front = Front(backend, Issuer(KEY), "")
        self._names = map("c{}".format, itertools.count())
        # To make one takes twice as long as to answer it.
        self._request = make_mocked_request("GET", "/")
        self.call("PUT", GROUP, {"location": "eastus"}, "2025-04-01")

    def call(self, method: str, path: str, body: Any, api_version: str) -> Reply:
        request = self._request.clone(method=method, rel_url=f"{path}?api-version={api_version}")
        content = b"" if body is None else json.dumps(body).encode()
        try:
            answer = self._front._serve(request, content)
        except errors.ArmError as error:
            return Reply(error.refusal.status, {}, error.body())
        return Reply(answer.status, dict(answer.headers), answer.body)

    def name(self) -> str:
        """The path of a cluster that is not there yet."""
        return f"{CLUSTERS}/{next(self._names)}"
