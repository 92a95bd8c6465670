"""The package as a provider: the SDK's host of components, with what it lacks (docs/package.md)."""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property
from typing import Any

import pulumi
from pulumi.output import Unknown
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.analyzer import PropertyDefinition, PropertyType
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.experimental.schema import generate_schema

import components
from aks_catalogue.address import REPOSITORY
from aks_catalogue.mistakes import Mistake, property_path
from aks_preview.configuration import VERSION
from components.arguments import ArgumentsError, found_mistakes, refuse
from components.declared import camel_case
from components.package.docstrings import described, in_properties, summary

PACKAGE = "aks-gpu"
# The SDK knows the module `index` only. Ours is in the type of each component, also in stacks.
_TOKEN = re.compile(rf'{PACKAGE}:index:(\w+?)(?:Args)?(?=")')
_ANY = "pulumi.json#/Any"
_Properties = Mapping[str, PropertyDefinition]
_Names = Mapping[str, str]
# What the engine sends as a value of each type; numbers are floats.
_SENT: Mapping[PropertyType | None, tuple[Any, str]] = {
    PropertyType.STRING: (str, "a string"),
    PropertyType.INTEGER: (int, "an integer"),
    PropertyType.NUMBER: (float, "a number"),
    PropertyType.BOOLEAN: (bool, "a boolean"),
    PropertyType.ARRAY: (list, "a list"),
    PropertyType.OBJECT: (dict, "a map"),
    None: (dict, "an object"),
}


class Components(ComponentProvider):
    """Creates components for programs in other languages."""

    schema: str

    def __init__(self) -> None:
        public = [getattr(components, name) for name in components.__all__]
        kinds = [kind for kind in public if issubclass(kind, pulumi.ComponentResource)]
        super().__init__(kinds, PACKAGE, PACKAGE, VERSION)
        for definition in self._component_defs.values():
            component = self._components[definition.name]
            definition.description = summary(component)
            _complete(component, definition.outputs, definition.outputs_mapping)
            _complete(_arguments_of(component), definition.inputs, definition.inputs_mapping)
        for kind in self._type_defs.values():
            kind.description = summary(kind.python_type)
            _complete(kind.python_type, kind.properties, kind.properties_mapping)
        schema = generate_schema(
            PACKAGE, VERSION, PACKAGE, self._component_defs, self._type_defs, self._dependencies
        ).to_json()
        # Go's SDK would not compile: it would lack the arguments in a plain list.
        schema["language"]["go"]["generateExtraInputTypes"] = True
        schema |= {
            "description": "GPU node pools on Azure Kubernetes Service, and what belongs to them.",
            "repository": f"https://{REPOSITORY}",
            "license": "Apache-2.0",
            "pluginDownloadURL": f"git://{REPOSITORY}/components",
        }
        self.schema = _TOKEN.sub(rf"{PACKAGE}:components:\1", json.dumps(schema))

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        component: Any = self._components[resource_type.rpartition(":")[2]]
        arguments, mistakes = self.read(component, inputs)
        try:
            if mistakes:
                unread = {mistake.path for mistake in mistakes}
                judged = found_mistakes(arguments)
                refuse(name, [*mistakes, *(it for it in judged if it.path not in unread)])
            made = component(name, arguments, options)
        except ArgumentsError as error:
            # Of a RunError, the SDK tells no properties.
            raise pulumi.InputPropertiesError(error.message, error.errors) from error
        about = self._component_defs[component.__name__]
        looked_up = {
            output: or_nothing(made, name)
            for output, name in about.outputs_mapping.items()
            if isinstance(getattr(component, name, None), cached_property)
        }
        return ConstructResult(made.urn, self.get_state(made, about) | looked_up)

    def read(self, component: type, inputs: pulumi.Inputs) -> tuple[Any, list[Mistake]]:
        """Returns the arguments of a component, and what is wrong with the inputs."""
        about, reader = self._component_defs[component.__name__], _Reader(self)
        kind, names = _arguments_of(component), about.inputs_mapping
        return reader.arguments(kind, about.inputs, names, inputs), reader.mistakes


class _Reader:
    """Reads inputs, and collects what is wrong with them.

    An input that cannot be read is an output in the arguments, which no rule looks at.
    """

    def __init__(self, package: Components) -> None:
        self._package = package
        self.mistakes: list[Mistake] = []

    def arguments(
        self, kind: Any, properties: _Properties, names: _Names, values: Any, path: str = ""
    ) -> Any:
        for name in sorted(values.keys() - properties.keys()):
            known = ", ".join(sorted(properties))
            self._refuse(property_path(path, name), f"is not a property: use one of {known}")
        read = {}
        for name, about in properties.items():
            own = property_path(path, name)
            if name in values:
                read[names[name]] = self._value(values[name], about, own)
            elif not about.optional:
                read[names[name]] = self._refuse(own, "is required")
        return kind(**read)

    def _value(self, value: Any, about: PropertyDefinition, path: str) -> Any:
        is_whole, is_any = about.type is PropertyType.INTEGER, about.ref == _ANY
        if about.plain and not is_any and isinstance(value, pulumi.Output):
            # The engine has sent it, so that nothing has to be waited for.
            sent = value._data.result()
            value = sent.value if sent.is_known and not sent.is_secret else pulumi.UNKNOWN
        if not isinstance(value, pulumi.Output | Unknown):
            value = _whole(value) if is_whole else value
            return value if is_any else self._known(value, about, path)
        if about.plain and not is_any:
            reason = "must be known, and no secret: it decides which resources there are"
            return self._refuse(path, reason)
        output: pulumi.Output[Any] = pulumi.Output.from_input(value)
        return output.apply(_whole) if is_whole else output

    def _known(self, value: Any, about: PropertyDefinition, path: str) -> Any:
        own, word = _SENT[about.type]
        if type(value) is not own:
            return self._refuse(path, f"must be {word}, not {value!r}")
        if about.ref and (kind := self._package.get_type_definition(about)):
            names = kind.properties_mapping
            return self.arguments(kind.python_type, kind.properties, names, value, path)
        if part := about.additional_properties:
            items = value.items()
            return {name: self._value(it, part, property_path(path, name)) for name, it in items}
        if part := about.items:
            items = enumerate(value)
            return [self._value(it, part, property_path(path, index)) for index, it in items]
        return value

    def _refuse(self, path: str, reason: str) -> Any:
        self.mistakes.append(Mistake(path, reason))
        return pulumi.Output.from_input(None)


def _whole(number: Any) -> Any:
    is_whole = isinstance(number, float) and number.is_integer()
    return int(number) if is_whole else number


def _arguments_of(component: type) -> Any:
    return getattr(components, f"{component.__name__}Args")


def _complete(kind: Any, properties: _Properties, names: _Names) -> None:
    """Describes properties, and makes those optional that have a default in Python."""
    own = fields(kind) if is_dataclass(kind) else ()
    required = {each.name for each in own if each.default is each.default_factory is MISSING}
    defaults = {each.name: each.default for each in own if each.name not in required}
    for property_, name in names.items():
        definition = properties[property_]
        definition.optional |= name in defaults
        description = in_properties(described(kind, name).description)
        if isinstance(default := defaults.get(name), bool | int | float | str):
            description += f" Default: `{json.dumps(default)}`."
        if definition.plain:
            description += " Plain value: it has to be known in a preview."
        definition.description = description


def or_nothing(component: Any, name: str) -> pulumi.Output[Any]:
    """Returns an output that is looked up; if Azure refuses that, nothing, with a warning."""

    def nothing(error: Exception) -> None:
        pulumi.log.warn(f"{camel_case(name)} is left out: {error}", component)

    output: pulumi.Output[Any] = getattr(component, name).recover(nothing)
    return output
