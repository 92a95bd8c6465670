"""What all parts of a stack file have in common."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationInfo
from pydantic.alias_generators import to_camel

# The name of the system pool where the stack gives it none.
SYSTEM_POOL = "system"

GpuStack = Literal["device-plugin", "specialised-image", "none"]


class Section(BaseModel):
    """A part of a stack file. Its keys are written as JSON has them: gpuPools."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, populate_by_name=True
    )


@dataclass(frozen=True)
class Context:
    """What a part has to know of the others to judge itself.

    It is read off the raw configuration, so that a mistake in one part hides none in another.
    """

    allow_retired: bool = False
    gpu_stack: str = "device-plugin"
    pool_names: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Context":
        return cls(
            allow_retired=values.get("allowRetired") in (True, "true"),
            gpu_stack=str(values.get("gpuStack", cls.gpu_stack)),
            pool_names=Counter(_names(values)),
        )

    def refuse_unless_allowed(self, retired: str) -> None:
        """What is retired is a mistake, or a warning where the stack allows it."""
        if not self.allow_retired:
            raise ValueError(f"{retired} To have it all the same, say allowRetired: true")
        self.warnings.append(retired)


def context_of(info: ValidationInfo) -> Context:
    return info.context if isinstance(info.context, Context) else Context()


def _names(values: Mapping[str, Any]) -> list[str]:
    pools, system = values.get("gpuPools"), values.get("systemPool")
    said = [*pools] if isinstance(pools, list) else []
    said.append({"name": SYSTEM_POOL, **(system if isinstance(system, Mapping) else {})})
    names = [pool.get("name") for pool in said if isinstance(pool, Mapping)]
    return [name for name in names if isinstance(name, str)]
