"""Keeps secrets out of what a report repeats.

The engine masks what it knows to be secret. This is for the rest: what a program or a rule writes
into a message on its own, and what this process was given in its environment.
"""

import os
import re
from collections.abc import Mapping

MASK = "[secret]"

_SECRET_NAME = r"(?:pass(?:word|phrase)?|secret|token|credentials?|api[-_]?key|access[-_]?key)"  # noqa: S105 (a pattern)
_SECRET_VARIABLE = re.compile(r"(pass(word|phrase)|secret|token|_key|_pat)(_|$)", re.IGNORECASE)
# Shorter values would mask ordinary words.
_SHORTEST = 6

# How they begin, as YAML and as JSON, by `apiVersion` or by `kind`; and how their keys do.
_KUBECONFIGS_IN_BASE_64 = (
    "YXBpVmVyc2lvb",
    "a2luZDog",
    "eyJhcGlWZXJzaW9u",
    "eyJraW5kIjoi",
    "LS0tLS1CRUdJTi",
)

# What looks like a secret, with what is shown in its place.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*-----|\Z)", re.S), MASK),
    # The parts of a kubeconfig, and base64 of whole ones.
    (re.compile(r"((?:client-key|client-certificate)-data[\"']?\s*:\s*)\S+"), rf"\1{MASK}"),
    (re.compile(rf"\b(?:{'|'.join(_KUBECONFIGS_IN_BASE_64)})[A-Za-z0-9+/=]+"), MASK),
    # JSON web tokens.
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), MASK),
    (re.compile(r"\b((?:Bearer|Basic)\s+)[\w.~+/=-]{8,}", re.I), rf"\1{MASK}"),
    (re.compile(r"\b((?:AccountKey|SharedAccessKey|sig)=)[^;&\s\"']+", re.I), rf"\1{MASK}"),
    # `password: x`, `"token": "x"`, `client_secret=x`, but not `the password: it is required`.
    (
        re.compile(rf"(\b[\w-]*{_SECRET_NAME}[\"']?\s*[=:]\s*)([\"'])(?:\\.|(?!\2).)+\2", re.I),
        rf"\1{MASK}",
    ),
    (re.compile(rf"(\b[\w-]*{_SECRET_NAME}\s*[=:]\s*)(?=\S*[\d/+_=-])[^\s,;\"']{{6,}}", re.I),
     rf"\1{MASK}"),
    (re.compile(r"(://[^/\s:@]+:)[^/\s@]+(?=@)"), rf"\1{MASK}"),
)  # fmt: skip

# What could rule a terminal, or turn the order of letters around; line breaks and tabs stay.
_RULING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def clean(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Foreign text as it may be shown."""
    text = _RULING.sub("", _COLOURS.sub("", text))
    for name, value in environment.items():
        if len(value) >= _SHORTEST and _SECRET_VARIABLE.search(name):
            text = text.replace(value, MASK)
    for pattern, shown in _PATTERNS:
        text = pattern.sub(shown, text)
    return text.strip()
