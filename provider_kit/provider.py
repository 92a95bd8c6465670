"""What the provider asks of whoever handles one type of resource; all values are plain ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pulumi.provider.experimental.provider import DiffResponse

from provider_kit.shapes import ObjectOf

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """One resource to work on, and how many seconds that may take."""

    urn: str
    name: str
    seconds: float


class Found(NamedTuple):
    """A resource as it is now."""

    resource_id: str
    outputs: dict[str, Any]
    inputs: dict[str, Any]


class Handler(Protocol):
    """One type of resource."""

    @property
    def inputs(self) -> ObjectOf:
        """What the inputs may look like."""

    def diff(self, old_inputs: Values, old_state: Values, new_inputs: Values) -> DiffResponse:
        """What a change of the inputs does."""

    async def create(self, task: Task, inputs: Values) -> tuple[str, dict[str, Any]]:
        """The id and the outputs of a new resource."""

    async def update(
        self, task: Task, resource_id: str, old_state: Values, inputs: Values
    ) -> dict[str, Any]:
        """The outputs of a resource that is made as the inputs say."""

    async def read(self, resource_id: str, said: Values, state: Values) -> Found | None:
        """A resource as it is now, its inputs in the words in which they were said."""

    async def delete(self, task: Task, resource_id: str, state: Values) -> None:
        """Takes a resource away; one that is gone already is no failure."""
