"""The page of the components: every argument and every output."""

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

import pulumi

import components
from components.package.docstrings import attributes, described, summary
from reference.markdown import code, sections, table

_INTRODUCTION = """\
The components build GPU node pools, and what belongs to them, in any Pulumi program in Python:

    from components import GpuNodePool, GpuNodePoolArgs

    GpuNodePool("train", GpuNodePoolArgs(...), pulumi.ResourceOptions(protect=True))

An argument of type `Input` takes a value or an output of another resource. Every other argument is
plain: its value decides which resources exist, so it cannot be an output. Invalid arguments are
reported together, each with its property path, before anything is created.
[batch-team](../../examples/batch-team) uses the components in a program of another team."""

# How the code writes a type, and how the page does.
_SPELLING = (
    (r"pulumi\.(Input|Output)\b", r"\1"),
    (r" \| None\b", ""),
    (r"(Sequence|Mapping)\[(.*)\]", lambda found: f"{found[1]}[{_without_inputs(found[2])}]"),
)


def page() -> str:
    kinds = (getattr(components, name) for name in components.__all__)
    return sections(
        "Components",
        _INTRODUCTION,
        *(_component(kind) for kind in kinds if issubclass(kind, pulumi.ComponentResource)),
    )


def _component(kind: type) -> str:
    rows = [_output(kind, name) for name in attributes(kind)]
    return "\n\n".join(
        [
            f"## {kind.__name__}",
            summary(kind),
            *_arguments(getattr(components, f"{kind.__name__}Args")),
            table(("output", "type", "description"), rows),
        ]
    )


def _output(kind: type, name: str) -> tuple[str, str, str]:
    output = described(kind, name)
    return code(name), code(_type(output.annotation)), output.description


def _arguments(kind: Any) -> Iterator[str]:
    rows = [_argument(kind, field) for field in fields(kind)]
    yield table((f"`{kind.__name__}`", "type", "default", "description"), rows)
    for name in components.__all__:
        if any(
            re.search(rf"\b{name}\b", attributes(kind)[field.name].annotation)
            for field in fields(kind)
        ):
            yield f"### {name}"
            yield summary(getattr(components, name))
            yield from _arguments(getattr(components, name))


def _argument(kind: type, field: Field[Any]) -> tuple[str, str, str, str]:
    argument = described(kind, field.name)
    return (
        code(field.name),
        code(_type(argument.annotation)),
        argument.default or _default(field),
        argument.meaning,
    )


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
