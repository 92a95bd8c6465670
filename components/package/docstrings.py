"""Descriptions in the code: a class's docstring, and a docstring below each of its attributes.

They are read from the source, since Python forgets docstrings of attributes.
"""

import ast
import inspect
import re
import sys
from dataclasses import dataclass
from functools import cache

from components.declared import camel_case

# How a docstring says what a value left out comes to, where the default itself does not say it.
_DEFAULT = re.compile(r"(?:^| )Default: (?P<default>.+?)\.(?= |$)")
_PYTHON_NAME = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


class MissingDocstringError(Exception):
    """An attribute that users set or read has no docstring."""


@dataclass(frozen=True)
class Attribute:
    """An attribute as its class declares it."""

    annotation: str
    description: str

    @property
    def default(self) -> str:
        """What the description says of the default."""
        found = _DEFAULT.search(self.description)
        return found["default"] if found else ""

    @property
    def meaning(self) -> str:
        """The description without what it says of the default."""
        return _DEFAULT.sub("", self.description).strip()


@cache
def attributes(kind: type) -> dict[str, Attribute]:
    """All annotated attributes of a class and of those that it inherits from, by name.

    One that has no docstring keeps that of the class which it inherits from.
    """
    found: dict[str, Attribute] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] == kind.__module__.partition(".")[0]:
            for name, own in _own(base).items():
                inherited = found[name].description if name in found else ""
                found[name] = Attribute(own.annotation, own.description or inherited)
    return found


def described(kind: type, name: str) -> Attribute:
    """An attribute that has to have a docstring."""
    attribute = attributes(kind)[name]
    if not attribute.description:
        raise MissingDocstringError(f"{kind.__module__}.{kind.__name__}.{name} has no docstring")
    return attribute


def summary(kind: object) -> str:
    """A docstring with each paragraph on one line."""
    return flat(inspect.getdoc(kind) or "")


def flat(text: str) -> str:
    """A text with each paragraph on one line."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def in_properties(description: str) -> str:
    """Returns a description with the properties of the schema in place of Python's names."""
    return _PYTHON_NAME.sub(lambda name: f"`{camel_case(name[1])}`", description)


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {each.name: each for each in body if isinstance(each, ast.ClassDef)}


def _own(kind: type) -> dict[str, Attribute]:
    definition = _classes(kind.__module__)[kind.__name__]
    found = {}
    for statement, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                found[name] = Attribute(ast.unparse(annotation), flat(_text(after)))
    return {name: attribute for name, attribute in found.items() if not name.startswith("_")}


def _text(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""
