"""The base class of all sections of a stack file."""

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator, model_validator
from pydantic.alias_generators import to_camel

from catalogue.mistakes import Mistake, shown
from catalogue.valid import Rules, property_mistakes

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value")
# A component's arguments, a dataclass.
Args = TypeVar("Args", bound="DataclassInstance")

# How similar a misspelled key is to the right one; tags is not near taints.
_SIMILAR = 0.65
# The key of a field. Each value is checked beside all before it, so each name is asked for often.
_key = cache(to_camel)
# What a value must be, by the first word of pydantic's types of errors.
WORDS: Mapping[str, str] = MappingProxyType(
    {
        "bool": "true or false",
        "dict": "a map",
        "float": "a number",
        "int": "a whole number",
        "list": "a list",
        "model": "a map of keys",
        "string": "a string",
    }
)


class RefusedError(ValueError):
    """Mistakes inside a section, whose paths are relative to the section."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("; ".join(map(str, mistakes)))
        self.mistakes = mistakes


@dataclass
class Context:
    """What the validation of one section needs to know of others, and collects on the way."""

    default_name: str = ""
    pool_names: Counter[str] = field(default_factory=Counter)
    gpu_stack: str = "device-plugin"
    kubernetes_version: str = ""
    upgrade_channel: str = "none"
    has_system_identity: bool = False
    warnings: list[str] = field(default_factory=list)


def context_of(info: ValidationInfo) -> Context:
    return info.context if isinstance(info.context, Context) else Context()


def must_be(kind: str, value: Any) -> str:
    """Returns the reason of a value that is of another kind."""
    if value in (None, ""):
        return f"is empty: it must be {kind}"
    return f"must be {kind}, not {shown(value)}"


class Section(BaseModel):
    """A section of a stack file. Its keys are in camel case: `gpuPools`."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        validate_default=True,
    )
    # By key: the rules that a value must meet, and the rules whose violation is only a warning.
    _rules: ClassVar[Rules] = {}
    _warnings: ClassVar[Rules] = {}

    @model_validator(mode="before")
    @classmethod
    def _read_misspelled_keys(cls, values: Any) -> Any:
        """Gives the value of a misspelled key also to the key that it is taken for.

        So it is one mistake: the right key is neither missing nor without a value.
        """
        if not isinstance(values, Mapping):
            return values
        unknown = [key for key in values if key not in cls.known_keys()]
        taken_for = {cls.nearest_key(key): values[key] for key in unknown}
        return {key: value for key, value in taken_for.items() if key} | dict(values)

    @classmethod
    def known_keys(cls) -> list[str]:
        return [str(field.alias) for field in cls.model_fields.values()]

    @classmethod
    def nearest_key(cls, key: str) -> str | None:
        """Returns the key that an unknown one is taken for."""
        near = difflib.get_close_matches(key, cls.known_keys(), n=1, cutoff=_SIMILAR)
        return near[0] if near else None

    def as_args(self, kind: type[Args], **more: Any) -> Args:
        """Returns a component's arguments: the values of the keys of the same names, and more.

        An empty text stands for the component's default.
        """
        names = {field.name for field in fields(kind)} - more.keys()
        own = {name: value for name, value in self if name in names and value != ""}
        return kind(**own, **more)

    @field_validator("*")
    @classmethod
    def _is_valid(cls, value: Value, info: ValidationInfo) -> Value:
        """Checks a value, given the valid values of the keys above it."""
        known: dict[str, Any] = {_key(name): other for name, other in info.data.items()}
        key = _key(str(info.field_name))
        known[key] = value
        if mistakes := [*property_mistakes(cls._rules, key, known)]:
            raise RefusedError(mistakes)
        warnings = property_mistakes(cls._warnings, key, known)
        context_of(info).warnings.extend(reason for _, reason in warnings)
        return value
