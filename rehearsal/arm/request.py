"""What a service is given for one request, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rehearsal.arm import errors
from rehearsal.arm.principal import Principal
from rehearsal.arm.state import Store
from rehearsal.control_planes.wanted import Era

if TYPE_CHECKING:
    from rehearsal.arm.aks.works import Works
    from rehearsal.arm.compute.offers import Offers

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One request that Resource Manager's front let through."""

    store: Store
    principal: Principal
    now: float
    time_scale: float
    era: Era
    works: "Works"
    offers: "Offers"
    origin: str
    path: str
    query: Mapping[str, str]
    api_version: str
    names: Mapping[str, str]
    headers: Mapping[str, str]
    content: Any

    @property
    def body(self) -> Json:
        if not isinstance(self.content, dict):
            raise errors.ArmError(errors.BAD_CONTENT, reason="a JSON object is expected")
        return self.content

    @property
    def subscription(self) -> str:
        return f"/subscriptions/{self.principal.subscription}"

    @property
    def group(self) -> str:
        return f"{self.subscription}/resourceGroups/{self.names['group']}"


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
