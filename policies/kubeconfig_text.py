"""Recognizes kubeconfigs: YAML with users who have a key, a token or a password."""

import base64
import binascii
import re
from typing import Any

import yaml

from aks_catalogue.shapes import at, mapping, mappings

_CREDENTIALS = ("client-key-data", "token", "password", "access-token", "id-token")
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")
# Reads every scalar as text.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with credentials, or any text in their place."""
    text = _decoded(value) if isinstance(value, str) else ""
    if "Config" not in text or "users" not in text:
        return False
    return any(map(_has_credentials, map(mapping, _documents(text))))


def _has_credentials(document: Any) -> bool:
    if document.get("kind") != "Config" or document.get("apiVersion", "v1") != "v1":
        return False
    users = [mapping(named.get("user")) for named in mappings(document.get("users"))]
    users += [mapping(at(user, "auth-provider.config")) for user in users]
    return any(user.get(name) for user in users for name in _CREDENTIALS)


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
