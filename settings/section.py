"""What all parts of a stack file have in common."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from catalogue.mistakes import Mistake
from catalogue.nodes import OLD_SPELLINGS, spelling
from catalogue.valid import Rules, property_mistakes

Value = TypeVar("Value")


class RefusedError(ValueError):
    """A key that holds mistakes; their paths begin with that key."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("; ".join(map(str, mistakes)))
        self.mistakes = mistakes


@dataclass
class Context:
    """What one part has to know of the others, from when those have been read."""

    pool_names: Counter[str] = field(default_factory=Counter)
    gpu_stack: str = "device-plugin"
    kubernetes_version: str = ""
    upgrade_channel: str = "none"
    warnings: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def context_of(info: ValidationInfo) -> Context:
    return info.context if isinstance(info.context, Context) else Context()


def as_azure_spells_it(value: Any, info: ValidationInfo) -> Any:
    """Replaces an old spelling, with a notice."""
    if not isinstance(value, str) or value not in OLD_SPELLINGS:
        return value
    context_of(info).notices.append(spelling(to_camel(str(info.field_name)), value))
    return OLD_SPELLINGS[value]


class Section(BaseModel):
    """A part of a stack file. Its keys are written as JSON has them: gpuPools."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        validate_default=True,
    )
    # What is valid here, and what is valid and worth a warning; both by key.
    _rules: ClassVar[Rules] = {}
    _doubts: ClassVar[Rules] = {}

    @field_validator("*")
    @classmethod
    def _is_valid(cls, value: Value, info: ValidationInfo) -> Value:
        """Judges a value by those of the keys before it. A key with a mistake is not known."""
        known: dict[str, Any] = {to_camel(name): other for name, other in info.data.items()}
        key = to_camel(str(info.field_name))
        known[key] = value
        if mistakes := [*property_mistakes(cls._rules, key, known)]:
            raise RefusedError(mistakes)
        doubts = property_mistakes(cls._doubts, key, known)
        context_of(info).warnings.extend(reason for _, reason in doubts)
        return value
