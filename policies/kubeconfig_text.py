"""Tells texts that are a kubeconfig with credentials in it, without a reader of YAML."""

import base64
import binascii
import re

# Quotes may be escaped: it may be a text inside of JSON. Others have a `kind: Config`, too: those
# of Kubernetes have users.
_KIND = re.compile(r"""\bkind\\?["']?\s*:\s*\\?["']?Config\b""")
_VERSION = re.compile(r"""\bapiVersion\\?["']?\s*:\s*\\?["']?([\w./-]+)""")
_USERS = re.compile(r"""\busers\\?["']?\s*:""")
_KEY = r"""\b(?P<key>client-key-data|token|password|access-token|id-token)\\?["']?\s*:"""
_ANY = re.compile(_KEY + r"""\s*\\?["']?[^\s"',}\\]""")
# Before the value there can be a tag, a sign of several lines, and an indented line of its own; a
# comment, another key or another item in its place is none.
_VALUE = (
    r"""(?:[ \t]|![\w!:/.-]*|[|>][+-]?(?=\s)|\r?\n(?=[ \t]))*+"""
    r"""(?!\#|-\s|[\w.-]+:\s)(?P<quote>\\?["'])?(?P<value>[^\n"'\\,]+)"""
)
_CREDENTIAL = re.compile(_KEY + _VALUE)
# Without quotes, what stands elsewhere in the same text.
_ALIAS = re.compile(r"\*([\w.-]+)")
# Words that a template has where a credential is to be: no credential is made of them alone.
_WORDS = (
    "access", "admin", "api", "bearer", "change", "client", "cluster", "data", "demo", "dummy",
    "edit", "elided", "empty", "encoded", "enter", "example", "fake", "fill", "filled", "fixme",
    "goes", "here", "hidden", "insert", "key", "kubernetes", "masked", "mock", "my", "omitted",
    "paste", "placeholder", "private", "redacted", "removed", "replace", "replaced", "sample",
    "secret", "service", "account", "some", "snip", "snipped", "stripped", "stub", "tbd", "the",
    "this", "todo", "token", "truncated", "undefined", "unset", "unused", "user", "value", "with",
    "your", "base64", "password", "passwd", "credential", "credentials", "cert", "certificate",
    "string", "null", "none", "nil", "not",
)  # fmt: skip
# These only where they end: other words begin with them.
_SHORT_WORDS = r"(?:an?|be|by|for|in|it|me|n/?a|of|or|to)(?![A-Za-z0-9])"
_PATTERNS = (
    # Signs for whoever fills it in: around it all, or around a part of it.
    r"\$\{.*|\$\(.*|\$[A-Za-z_]\w*|\{.*|<.*|\[.*|\(.*|`.*|#\{.*|__\w+__|%.+%|@.+@",
    r".*(?:\$\{\s*[A-Za-z_]|\{\{|\$\([A-Z][A-Z0-9_]+\)).*",
    # As printf and its like have them.
    r"%(?:\(\w+\)|\[\d+\])?[-+0-9.]*[A-Za-z]",
    # What is cut off at one end, or a certificate, a key or a token that is in the middle.
    r"(?:\.{3}|…).*|.*(?:\.{3}|…)|(?:LS0t|eyJ)[\w+/=-]*(?:\.{3}|…).*",
    # Encrypted, or kept elsewhere: SOPS, Ansible, an address, a path in a vault.
    r"ENC\[.*|\$ANSIBLE_VAULT;.*|[a-z][a-z0-9+.-]*://.*",
    r"(?:>>)?(?:vault|ssm|file):[\w.-]*/.*|env:[A-Z][A-Z0-9_]*",
    # One sign, over and over; words in capital letters.
    r"([\W_])\1*|[A-Z]{1,16}(?:[ -][A-Z]{1,16})*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]+\+OMITTED",
    r"(?i:x+(?:[ ._-]+x+)*|change[ _-]?me|your[ _-].+|(?:insert|enter|put|paste|replace)[ _-].+)",
    rf"(?i:[\s._*#-]*(?:(?:{'|'.join(_WORDS)}|{_SHORT_WORDS})[\s._*#-]*)+[!?]*)",
)
_TEMPLATE = re.compile("|".join(_PATTERNS))
# No token and no key has a blank in it: what is of words alone tells what is to be there.
_SENTENCE = re.compile(r"[^\W\d_]+(?:[ -]+[^\W\d_]+)* [^\W\d_]+[.!?]*")
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
    return any(_is_credential(text, match) for match in _CREDENTIAL.finditer(text))


def _is_credential(text: str, found: re.Match[str]) -> bool:
    key, value = found["key"], _bare(found)
    if not found["quote"] and (alias := _ALIAS.fullmatch(value)):
        anchors = re.finditer(rf"&{re.escape(alias[1])}\s{_VALUE}", text)
        return any(_opens(key, _bare(anchor)) for anchor in anchors)
    return _opens(key, value)


def _bare(found: re.Match[str]) -> str:
    return found["value"].partition(" #")[0].strip(" \t}]\r")


def _opens(key: str, value: str) -> bool:
    is_sentence = key != "password" and _SENTENCE.fullmatch(value)
    return bool(value) and not is_sentence and not _TEMPLATE.fullmatch(value)


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
