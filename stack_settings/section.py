"""The base class of all sections of a stack file."""

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from aks_catalogue.mistakes import Mistake, shown
from aks_catalogue.valid import Rules, mistakes, property_mistakes, rules
from components.declared import declared
from components.extra_properties import extra_mistakes
from components.package.kinds import Kind, kind_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value")
# A component's arguments, a dataclass.
Args = TypeVar("Args", bound="DataclassInstance")
SomeSection = TypeVar("SomeSection", bound="Section")

# How similar a misspelled key is to the right one; tags is not near taints.
_SIMILAR = 0.65
# What could be read of the section that is being read, by key.
_READ: ContextVar[dict[str, Any]] = ContextVar("_READ")
# What makes an error of pydantic's anew.
_DETAILS = frozenset({"type", "loc", "input", "ctx"})
# The sections that were made of arguments.
SECTIONS: dict[type, type["Section"]] = {}
# What a value must be, by the first word of pydantic's types of errors.
WORDS: Mapping[str, str] = MappingProxyType(
    {
        "bool": "true or false",
        "dict": "a map",
        "finite": "a finite number",
        "float": "a number",
        "int": "a whole number",
        "list": "a list",
        "model": "a map of keys",
        "string": "a string",
    }
)


class RefusedError(ValueError):
    """Mistakes inside a section, whose paths are relative to the section."""

    def __init__(self, found: Sequence[Mistake]) -> None:
        super().__init__("; ".join(map(str, found)))
        self.mistakes = found


@dataclass
class Context:
    """What the validation of one section needs to know of others, and collects on the way."""

    default_name: str = ""
    pool_names: Counter[str] = field(default_factory=Counter)
    capacity_names: Counter[str] = field(default_factory=Counter)
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
    # The component's arguments that are keys of the section, if there are some.
    arguments: ClassVar[type["DataclassInstance"] | None] = None
    # The argument that the key `name` is.
    named: ClassVar[str] = ""

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
    @cache
    def rules(cls, *, doubtful: bool = False) -> Rules:
        """Returns the rules by key, or those whose violation is only a warning."""
        declared = {str(key.alias): key.metadata for key in cls.model_fields.values()}
        return rules(declared, doubtful=doubtful)

    @classmethod
    def by_aks_preview(cls, known: Mapping[str, Any]) -> bool:
        """Whether aks-preview may manage the resource of a section with these values."""
        return known.get("customHeaders") is not None

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
        values = {self.named if name == "name" else name: value for name, value in self}
        own = {
            name: _argument(value)
            for name, value in values.items()
            if name in names and value != ""
        }
        return kind(**own, **more)

    @field_validator("*")
    @classmethod
    def _is_readable(cls, value: Value, info: ValidationInfo) -> Value:
        _READ.get()[to_camel(str(info.field_name))] = value
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _is_valid(
        cls, values: Any, read: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Applies the rules to what could be read, as a component does to its arguments."""
        known: dict[str, Any] = {}
        before = _READ.set(known)
        section, wrong = None, list[Any]()
        try:
            section = read(values)
        except ValidationError as error:
            wrong = [
                {name: value for name, value in each.items() if name in _DETAILS}
                for each in error.errors(include_url=False)
            ]
        finally:
            _READ.reset(before)
        found = {name: [*property_mistakes(cls.rules(), name, known)] for name in known}
        if cls.arguments and known.get("extra"):
            is_newer = cls.by_aks_preview(known)
            found["extra"] += extra_mistakes(
                cls.arguments, known["extra"], by_aks_preview=is_newer, path="extra"
            )
        # One mistake a key: the rule's, which a component tells too.
        wrong = [each for each in wrong if not any(map(found.get, each["loc"][:1]))]
        if refused := [mistake for each in found.values() for mistake in each]:
            cause = {"error": RefusedError(refused)}
            wrong.append({"type": "value_error", "loc": ("",), "input": "", "ctx": cause})
        if section is None or wrong:
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        context_of(info).warnings.extend(
            reason for _, reason in mistakes(cls.rules(doubtful=True), known)
        )
        return section


def keys_of(
    arguments: type["DataclassInstance"], *, named: str = "", without: Collection[str] = ()
) -> Callable[[type[SomeSection]], type[SomeSection]]:
    """Makes a component's arguments keys of a section: type, default, rules and description.

    `named` is the argument that the key `name` is. A key that the section declares itself has its
    own type and default, and its rules beside those of the argument.
    """
    about, given = declared(arguments), {each.name: each for each in fields(arguments)}

    def with_keys(section: type[SomeSection]) -> type[SomeSection]:
        own = {"name" if name == named else name: name for name in about if name not in without}
        keys: dict[str, Any] = {
            key: (_type(kind_of(given[argument].type)), _default(given[argument]))
            for key, argument in own.items()
            if key not in section.model_fields
        }
        made = create_model(
            section.__name__,
            __base__=section,
            __doc__=section.__doc__,
            __module__=section.__module__,
            **keys,
        )
        for key, argument in own.items():
            field = made.model_fields[key]
            field.metadata = [*about[argument], *field.metadata]
        made.arguments, made.named = arguments, named
        SECTIONS[arguments] = made
        return made

    return with_keys


def _type(kind: Kind) -> Any:
    """Returns the type of a key, whose value is never an output."""
    own: Any = SECTIONS.get(kind.base, kind.base)
    if kind.items:
        items: Any = _type(kind.items)
        own = list[items] if kind.base is list else dict[str, items]
    elif kind.base is object:
        own = Any
    return own | None if kind.is_optional else own


def _default(argument: "Field[Any]") -> Any:
    if argument.default_factory is not MISSING:
        return argument.default_factory()
    if argument.default is MISSING:
        return ...
    return list(argument.default) if isinstance(argument.default, tuple) else argument.default


def _argument(value: Any) -> Any:
    """Returns a value as a component takes it: a section as the arguments that it was made from."""
    is_section = isinstance(value, Section) and value.arguments
    return value.as_args(value.arguments) if is_section else value
