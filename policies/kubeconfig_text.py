"""Recognizes kubeconfigs: YAML with users who have a key, a token or a password."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import yaml

from aks_catalogue.shapes import at, mapping, mappings

_KEY = "client-key-data"
_CREDENTIALS = (_KEY, "token", "password", "access-token", "id-token")
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")
# Where a template is filled in, and what was cut out.
_PLACEHOLDER = re.compile(r"\$\{|\$\(|\{\{|^[$<%@#\[({`]|^__|://|\.\.\.|…|\s")
# Reads every scalar as text.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with credentials, or any text in their place."""
    return any(_credentials(value))


def has_usable_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with credentials, and certainly no template of one."""
    return any(map(_is_usable, _credentials(value)))


def _is_usable(credential: str) -> bool:
    """Whether it is no placeholder. Keys and tokens have digits, which words for them have not."""
    is_word = not re.search("[0-9]", credential) or not re.search("[a-z]", credential)
    return not (is_word or _PLACEHOLDER.search(credential.strip()))


def _credentials(value: object) -> Iterator[str]:
    text = _decoded(value) if isinstance(value, str) else ""
    if "Config" not in text or "users" not in text:
        return
    for document in map(mapping, _documents(text)):
        if document.get("kind") == "Config" and document.get("apiVersion", "v1") == "v1":
            users = [mapping(named.get("user")) for named in mappings(document.get("users"))]
            users += [mapping(at(user, "auth-provider.config")) for user in users]
            # Base64 may be on several lines.
            users = [{**user, _KEY: "".join(str(user.get(_KEY) or "").split())} for user in users]
            yield from (str(user.get(name) or "") for user in users for name in _CREDENTIALS)


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
