"""Where a stack file speaks of what."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from aksgpu.review.causes import Cause, Problem, ReviewError
from aksgpu.review.masking import clean

_PART = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True)
class StackFile:
    """A stack file's text, with its places."""

    root: yaml.Node | None

    def line_of_key(self, key: str) -> int | None:
        """The line of a key as our settings write it: gpuPools[1].vmSize, or of what holds it."""
        line, node = None, _below(self.root, "config")
        for part in _PART.findall(key):
            node, place = _member(node, part)
            if place is None:
                break
            line = place
        return line

    def line_of_name(self, *names: str) -> int | None:
        """The first line in which one of these stands as a name, or else as any value."""
        for name in filter(None, names):
            found = list(_scalars(self.root, name))
            named = [line for line, is_name in found if is_name]
            if lines := named or [line for line, _ in found]:
                return lines[0]
        return None


def read_stack_file(path: Path) -> StackFile:
    """Raises ReviewError where it is no YAML. One that is not there is one that says nothing."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return StackFile(None)
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(f"it cannot be read: {error}") from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _invalid(f"it is no YAML: {' '.join(str(error).split())}") from None
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise _invalid("it is no map of keys and values")
    return StackFile(root)


def _invalid(what: str) -> ReviewError:
    advice = "correct the stack file"
    return ReviewError(Problem(cause=Cause.STACK_FILE_INVALID, what=clean(what), advice=advice))


def _below(node: yaml.Node | None, key: str) -> yaml.Node | None:
    return _member(node, key)[0]


def _member(node: yaml.Node | None, part: str) -> tuple[yaml.Node | None, int | None]:
    """A member of a map or list, with its line; keys may have their project's name before them."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if str(key.value).rpartition(":")[2] == part.strip("'"):
                return value, key.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
        item = node.value[int(part)]
        return item, item.start_mark.line + 1
    return None, None


def _scalars(node: yaml.Node | None, text: str, *, is_name: bool = False) -> list[tuple[int, bool]]:
    """The lines in which a text stands, and whether it is a name there."""
    if isinstance(node, yaml.ScalarNode):
        return [(node.start_mark.line + 1, is_name)] if node.value == text else []
    found = []
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            # A map may have names for keys, as `pools: {training: ...}` has.
            if key.value.rpartition(":")[2] == text:
                found.append((key.start_mark.line + 1, False))
            found += _scalars(value, text, is_name=key.value == "name")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            found += _scalars(item, text)
    return found
