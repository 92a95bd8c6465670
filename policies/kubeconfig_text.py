"""Tells texts that are a kubeconfig with credentials in it, without a reader of YAML."""

import base64
import binascii
import re

# Quotes may be escaped: it may be a text inside of JSON. Others have a `kind: Config`, too: those
# of Kubernetes have users.
_KIND = re.compile(r"""\bkind\\?["']?\s*:\s*\\?["']?Config\b""")
_USERS = re.compile(r"""\busers\\?["']?\s*:""")
_CREDENTIAL = re.compile(
    r"""\b(client-key-data|token|password|access-token|id-token)"""
    r"""\\?["']?[ \t]*:[ \t]*([|>][+-]?\s+)?(\\?["'])?(?P<value>[^\n"'\\,]+)"""
)
# A credential is one word of these letters, and random: somewhere it has a digit. A template has
# signs for whoever fills it in, or plain words: ${TOKEN}, <your token>, __TOKEN__, REDACTED.
_WORD = re.compile(r"(?!__)(?=.*\d)[A-Za-z0-9+/=._~-]+")
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig that opens a cluster, as it is or in base 64."""
    if not isinstance(value, str):
        return False
    text = _decoded(value) if _ENCODED.fullmatch(value) else value
    if not (_KIND.search(text) and _USERS.search(text)):
        return False
    found = (match["value"].partition(" #")[0] for match in _CREDENTIAL.finditer(text))
    values = (value.strip(" \t}]\r") for value in found)
    return any(map(_WORD.fullmatch, values))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
