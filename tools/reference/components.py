"""The page of the components: every argument and every output."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

import pulumi

import components
from components.kinds import kind_of
from components.package.docstrings import attributes, described, summary
from reference.markdown import Row, Tables, code, sections
from reference.stack_file import anchor, is_argument, keys_of_arguments

_INTRODUCTION = """\
The components build GPU node pools, and what belongs to them. Programs in a checkout of aks-gpu use
these classes; all others have the same as [a package](../package.md), with the same arguments:

    from components import GpuNodePool, GpuNodePoolArgs

    GpuNodePool("train", GpuNodePoolArgs(...), pulumi.ResourceOptions(protect=True))

An argument of type `Input` takes a value or an output of another resource. Every other argument is
plain: its value decides which resources exist, so it cannot be an output. What is also a key of a
stack file is described there. Invalid arguments are reported together, each with its property path,
before anything is created.
[batch-team](../../examples/batch-team) uses the components in a program of another team."""

# How the code writes a type, and how the page does.
_SPELLING = (
    (r"pulumi\.(Input|Output)\b", r"\1"),
    (r" \| None\b", ""),
    (r"(Sequence|Mapping)\[(.*)\]", lambda found: f"{found[1]}[{_without_inputs(found[2])}]"),
)


def page() -> str:
    return sections("Components", _INTRODUCTION, *_Page().components())


class _Page:
    """The page as it is written: what two classes have alike is told with the first one."""

    def __init__(self) -> None:
        self._tables = Tables()
        self._described: set[str] = set()

    def components(self) -> Iterator[str]:
        kinds = (getattr(components, name) for name in components.__all__)
        for kind in kinds:
            if issubclass(kind, pulumi.ComponentResource):
                yield f"## {kind.__name__}"
                yield summary(kind)
                yield from self._arguments(getattr(components, f"{kind.__name__}Args"))
                rows = [_output(kind, name) for name in attributes(kind)]
                yield from self._tables.table(
                    kind.__name__, _heading(kind.__name__), ("output", "type", "description"), rows
                )

    def _arguments(self, kind: Any) -> Iterator[str]:
        self._described.add(kind.__name__)
        name = kind.__name__
        head = (code(name), "type", "default", "description")
        path, section = keys_of_arguments().get(kind, ("", kind))
        as_keys = [field for field in fields(kind) if path and is_argument(section, field.name)]
        rows = [_argument(kind, field) for field in fields(kind) if field not in as_keys]
        yield from self._tables.table(name, _heading(name), head, rows)
        if as_keys:
            place = f"[{code(path)}](stack-file.md#{anchor(path)})"
            plain = [field for field in as_keys if not kind_of(field.type).is_input]
            others = [field for field in as_keys if field not in plain]
            both = [_names(others)] * bool(others) + [f"plain: {_names(plain)}"] * bool(plain)
            yield f"As in {place} of a stack file: {'; '.join(both)}."
        for name in components.__all__:
            if name not in self._described and _has(kind, name):
                yield f"### {name}"
                yield summary(getattr(components, name))
                yield from self._arguments(getattr(components, name))


def _heading(name: str) -> str:
    """The heading below which a class is: a component's arguments have none of their own."""
    component = name.removesuffix("Args")
    return (component if component in components.__all__ else name).lower()


def _output(kind: type, name: str) -> Row:
    output = described(kind, name)
    return code(name), code(_type(output.annotation)), output.description


def _has(kind: Any, name: str) -> bool:
    """Whether an argument of a class is of a class of that name."""
    annotations = (attributes(kind)[field.name].annotation for field in fields(kind))
    return any(re.search(rf"\b{name}\b", annotation) for annotation in annotations)


def _argument(kind: type, field: Field[Any]) -> Row:
    argument = described(kind, field.name)
    return (
        code(field.name),
        code(_type(argument.annotation)),
        argument.default or _default(field),
        argument.meaning,
    )


def _names(of: Iterable[Field[Any]]) -> str:
    return ", ".join(code(field.name) for field in of)


def _default(field: Field[Any]) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return "**required**"
    if field.default in (None, ()) or field.default is MISSING:
        return "none"
    value = (
        f"{type(field.default).__name__}()"
        if hasattr(field.default, "__dataclass_fields__")
        else repr(field.default)
    )
    return code(value.replace("'", '"'))


def _type(annotation: str) -> str:
    text = annotation
    for pattern, replacement in _SPELLING:
        text = re.sub(pattern, replacement, text)
    return text


def _without_inputs(text: str) -> str:
    return re.sub(r"Input\[(\w+)\]", r"\1", text)
