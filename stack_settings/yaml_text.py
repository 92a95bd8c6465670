"""Reads YAML, and keeps the line of each key and item."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from ruamel.yaml import YAML, MappingNode, Node, SequenceNode
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

# More is no stack file, but a text whose aliases multiply it.
_MOST_VALUES = 20_000


class Place(NamedTuple):
    """A key or an item: what leads to it, and its line, counted from 1."""

    keys: tuple[str | int, ...]
    line: int


class NoYamlError(Exception):
    """A text that is not valid YAML."""


def read_yaml(content: bytes | str) -> tuple[Any, list[Place]]:
    """Returns the value of a text as in JSON, and the places in it.

    Raises NoYamlError if it is not one document of YAML.
    """
    yaml: Any = YAML(typ="safe", pure=True)
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        root = yaml.compose(text)
        places = [*islice(_places(root), _MOST_VALUES + 1)]
        if len(places) > _MOST_VALUES:
            raise NoYamlError(f"it has more than {_MOST_VALUES} values")
        value = yaml.constructor.construct_document(root) if root else None
        # Keys and dates are texts for Pulumi too.
        return json.loads(json.dumps(value, default=str)), places
    except UnicodeDecodeError as error:
        raise NoYamlError(f"it is not encoded in UTF-8: {error.reason}") from None
    except DuplicateKeyError as error:
        raise NoYamlError(f"a key stands twice (line {error.problem_mark.line + 1})") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" (line {mark.line + 1})" if mark else ""
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise NoYamlError(f"{reason}{where}") from None
    except (TypeError, ValueError, YAMLError) as error:
        raise NoYamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise NoYamlError("it contains itself, or is nested too deeply") from None


def _places(node: Node, *keys: str | int) -> Iterator[Place]:
    members: list[tuple[str | int, Node, Node]] = []
    if isinstance(node, MappingNode):
        members = [(str(key.value), key, value) for key, value in node.value]
    elif isinstance(node, SequenceNode):
        members = [(index, item, item) for index, item in enumerate(node.value)]
    for key, start, value in members:
        yield Place((*keys, key), start.start_mark.line + 1)
        yield from _places(value, *keys, key)
