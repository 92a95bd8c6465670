"""Recognizes kubeconfigs: YAML with users who have a key, a token or a password."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import yaml

from aks_catalogue.shapes import at, mapping, mappings

_CREDENTIALS = ("client-key-data", "token", "password", "access-token", "id-token")
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")
# Where a template is filled in, and what was cut out.
_PLACEHOLDER = re.compile(r"\$\{|\$\(|\{\{|^[$<%@#\[({`]|^__|://|\.\.\.|…|\s")
# Reads every scalar as text.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def can_have_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with any text in place of its credentials."""
    return any(_credentials(value))


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with usable credentials, and not a template of one."""
    return any(_is_usable(credential.strip()) for credential in _credentials(value))


def _is_usable(credential: str) -> bool:
    """Whether it is no placeholder. Keys and tokens have digits, which words for them have not."""
    is_word = not re.search("[0-9]", credential) or not re.search("[a-z]", credential)
    return not (is_word or _PLACEHOLDER.search(credential))


def _credentials(value: object) -> Iterator[str]:
    """Yields the credentials of a kubeconfig."""
    text = _decoded(value) if isinstance(value, str) else ""
    if "Config" not in text or "users" not in text:
        return
    for document in _documents(text):
        content = mapping(document)
        if content.get("kind") == "Config" and content.get("apiVersion", "v1") == "v1":
            for named in mappings(content.get("users")):
                user = mapping(named.get("user"))
                for each in (user, mapping(at(user, "auth-provider.config"))):
                    yield from (text for name in _CREDENTIALS if (text := str(each.get(name, ""))))


def _documents(text: str) -> list[Any]:
    try:
        return list(yaml.load_all(text, Loader=_LOADER))
    except (yaml.YAMLError, RecursionError):
        return []


def _decoded(text: str) -> str:
    if not _ENCODED.fullmatch(text):
        return text
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
