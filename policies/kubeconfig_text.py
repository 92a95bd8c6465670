"""Tells texts that are a kubeconfig with credentials in it, without a reader of YAML."""

import base64
import binascii
import re

# Quotes may be escaped: it may be a text inside of JSON. Others have a `kind: Config`, too: those
# of Kubernetes have users.
_KIND = re.compile(r"""\bkind\\?["']?\s*:\s*\\?["']?Config\b""")
_VERSION = re.compile(r"""\bapiVersion\\?["']?\s*:\s*\\?["']?([\w./-]+)""")
_USERS = re.compile(r"""\busers\\?["']?\s*:""")
_KEY = r"""\b(client-key-data|token|password|access-token|id-token)\\?["']?\s*:"""
_ANY = re.compile(_KEY + r"""\s*\\?["']?[^\s"',}\\]""")
# Before the value there can be a tag, a sign of several lines, and an indented line of its own; a
# comment, another key or another item in its place is none.
_CREDENTIAL = re.compile(
    _KEY + r"""(?:[ \t]|![\w!:/.-]*|[|>][+-]?(?=\s)|\r?\n(?=[ \t]))*+"""
    r"""(?!\#|-\s|[\w.-]+:\s)(\\?["'])?(?P<value>[^\n"'\\,]+)"""
)
# A template has signs for whoever fills it in, or words that say so.
_TEMPLATE = re.compile(
    r"\$\{.*|\$\(.*|\$[A-Za-z_]\w*|\{.*|<.*|\[.*|\(.*|`.*|#\{.*|__\w+__|%.+%|@.+@|\.+|…"
    r"|[A-Z]+|[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[A-Z]+\+OMITTED"
    r"|(?i:redacted|null|none|~|\*+|x+|change[ _-]?me|your[ _-].+|todo|example|placeholder"
    r"|((my|the|an?)[ _-])?(token|password|secret)|(insert|enter|put|paste|replace)[ _-].+)"
)
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")


def can_have_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with anything in it where credentials stand."""
    text = _kubeconfig(value)
    return _ANY.search(text) is not None


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig that opens a cluster: a template of one does not."""
    text = _kubeconfig(value)
    versions = _VERSION.findall(text)
    if not _USERS.search(text) or (versions and "v1" not in versions):
        return False
    found = (match["value"].partition(" #")[0] for match in _CREDENTIAL.finditer(text))
    values = filter(None, (value.strip(" \t}]\r") for value in found))
    return not all(map(_TEMPLATE.fullmatch, values))


def _kubeconfig(value: object) -> str:
    """A kubeconfig's text, as it is or in base 64; empty of anything else."""
    if not isinstance(value, str):
        return ""
    text = _decoded(value) if _ENCODED.fullmatch(value) else value
    return text if _KIND.search(text) else ""


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
