"""Tells texts that are a kubeconfig with credentials in it, without a reader of YAML."""

import base64
import binascii
import re

# Quotes may be escaped: it may be a text inside of JSON.
_KIND = re.compile(r"""\bkind\\?["']?\s*:\s*\\?["']?Config\b""")
_CREDENTIAL = re.compile(
    r"""\b(client-key-data|token|password|access-token|id-token)"""
    r"""\\?["']?\s*:\s*\\?["']?[^\s"',}\\]"""
)
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig that opens a cluster, as it is or in base 64."""
    if not isinstance(value, str):
        return False
    text = _decoded(value) if _ENCODED.fullmatch(value) else value
    return bool(_KIND.search(text) and _CREDENTIAL.search(text))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
