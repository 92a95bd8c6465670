"""Recognizes kubeconfigs with credentials in any text, without a YAML parser."""

import base64
import binascii
import re

# Quotes can be escaped, as in a string inside JSON. Other formats have `kind: Config`, too, but a
# kubeconfig has users.
_KIND = re.compile(r"""\bkind\\?["']?\s*:\s*\\?["']?Config\b""")
_VERSION = re.compile(r"""\bapiVersion\\?["']?\s*:\s*\\?["']?([\w./-]+)""")
_USERS = re.compile(r"""\busers\\?["']?\s*:""")
_KEY = r"""\b(?P<key>client-key-data|token|password|access-token|id-token)\\?["']?\s*:"""
_ANY = re.compile(_KEY + r"""\s*\\?["']?[^\s"',}\\]""")
# YAML allows a tag, a block indicator (| or >) and a line break before the value. A comment,
# another key or another list item there means that there is no value.
_VALUE = (
    r"""(?:[ \t]|![\w!:/.-]*|[|>][+-]?(?=\s)|\r?\n(?=[ \t]))*+"""
    r"""(?!\#|-\s|[\w.-]+:\s)(?P<quote>\\?["'])?(?P<value>[^\n"'\\,]+)"""
)
_CREDENTIAL = re.compile(_KEY + _VALUE)
# A YAML alias, whose value is at its anchor in the same text.
_ALIAS = re.compile(r"\*([\w.-]+)")
# Words of placeholders in templates. No credential consists only of them.
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
# Only as whole words: longer words begin with them.
_SHORT_WORDS = r"(?:an?|be|by|for|in|it|me|n/?a|of|or|to)(?![A-Za-z0-9])"
_PATTERNS = (
    # Placeholder syntax around the whole value, or around a part of it.
    r"\$\{.*|\$\(.*|\$[A-Za-z_]\w*|\{.*|<.*|\[.*|\(.*|`.*|#\{.*|__\w+__|%.+%|@.+@",
    r".*(?:\$\{\s*[A-Za-z_]|\{\{|\$\([A-Z][A-Z0-9_]+\)).*",
    # Format specifiers, as of printf.
    r"%(?:\(\w+\)|\[\d+\])?[-+0-9.]*[A-Za-z]",
    # A value with an ellipsis at one end; a certificate, a key or a token with one in the middle.
    r"(?:\.{3}|…).*|.*(?:\.{3}|…)|(?:LS0t|eyJ)[\w+/=-]*(?:\.{3}|…).*",
    # Encrypted values and references: SOPS, Ansible, a URL, a path in a vault.
    r"ENC\[.*|\$ANSIBLE_VAULT;.*|[a-z][a-z0-9+.-]*://.*",
    r"(?:>>)?(?:vault|ssm|file):[\w.-]*/.*|env:[A-Z][A-Z0-9_]*",
    # One repeated character; words in capital letters.
    r"([\W_])\1*|[A-Z]{1,16}(?:[ -][A-Z]{1,16})*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]+\+OMITTED",
    r"(?i:x+(?:[ ._-]+x+)*|change[ _-]?me|your[ _-].+|(?:insert|enter|put|paste|replace)[ _-].+)",
    rf"(?i:[\s._*#-]*(?:(?:{'|'.join(_WORDS)}|{_SHORT_WORDS})[\s._*#-]*)+[!?]*)",
)
_TEMPLATE = re.compile("|".join(_PATTERNS))
# Tokens and keys contain no space, so several words are a description.
_SENTENCE = re.compile(r"[^\W\d_]+(?:[ -]+[^\W\d_]+)* [^\W\d_]+[.!?]*")
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{80,}=*\s*")


def can_have_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with any text in place of its credentials."""
    text = _kubeconfig(value)
    return _ANY.search(text) is not None


def has_credentials(value: object) -> bool:
    """Whether a value is a kubeconfig with usable credentials, and not a template of one."""
    text = _kubeconfig(value)
    versions = _VERSION.findall(text)
    if not _USERS.search(text) or (versions and "v1" not in versions):
        return False
    return any(_is_credential(text, match) for match in _CREDENTIAL.finditer(text))


def _is_credential(text: str, match: re.Match[str]) -> bool:
    key, value = match["key"], _value(match)
    if not match["quote"] and (alias := _ALIAS.fullmatch(value)):
        anchors = re.finditer(rf"&{re.escape(alias[1])}\s{_VALUE}", text)
        return any(_is_usable(key, _value(anchor)) for anchor in anchors)
    return _is_usable(key, value)


def _value(match: re.Match[str]) -> str:
    return match["value"].partition(" #")[0].strip(" \t}]\r")


def _is_usable(key: str, value: str) -> bool:
    is_sentence = key != "password" and _SENTENCE.fullmatch(value)
    return bool(value) and not is_sentence and not _TEMPLATE.fullmatch(value)


def _kubeconfig(value: object) -> str:
    """Returns the text of a kubeconfig, decoded from base64 if needed; empty for other values."""
    if not isinstance(value, str):
        return ""
    text = _decoded(value) if _ENCODED.fullmatch(value) else value
    return text if _KIND.search(text) else ""


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
