"""A mistake in a user's configuration or inputs."""

import json
from typing import NamedTuple


class Mistake(NamedTuple):
    """The path of the wrong property, and the reason."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class KeyMistake(Mistake):
    """A mistake about a key, whatever its value: the reason repeats no value."""


def shown(value: object) -> str:
    """Returns a value as a message repeats it, in the notation of YAML and JSON."""
    return (
        repr(value)
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, default=repr)
    )


def property_path(whole: str, *parts: int | str) -> str:
    """Returns a property path as Pulumi writes it: gpuPools[1].vmSize, labels["a/b"].

    `whole` is the path of the object that has the property; empty at the top.
    """
    path = whole
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not part.isidentifier():
            path += f"[{json.dumps(part, ensure_ascii=False)}]"
        else:
            path += f".{part}" if path else part
    return path


def is_within(path: str, whole: str) -> bool:
    """Whether a property path is another one, or inside it."""
    return path == whole or path.startswith((f"{whole}.", f"{whole}["))
