"""Masks secrets in the messages that a report quotes.

The engine masks the secrets that it knows. This masks the others: those that a program or a rule
writes into a message, and values from the environment of this process.
"""

import os
import re
from collections.abc import Mapping

from aksgpu.visible import without_control_characters

MASK = "[secret]"

# Not secrets: `pullSecret` and `existingSecret` hold names of Secrets, and PWD holds a path.
_TELLING_NAME = (
    r"(?:pass(?:word|phrase|wd)?|(?<!pull)(?<!pull[-_])(?<!existing)(?<!existing[-_])secret|token"
    r"|credentials?|api[-_]?key|access[-_]?key|pwd(?!\s*[=:]\s*[/~$.]))"
)
# Anchored at the start of a name: trying each letter of a long name takes too long.
_NAMED = rf"(?<![\w-])[\w-]*{_TELLING_NAME}"
# Distinguishes a secret from an ordinary word.
_NO_WORD = r"(?=[^\s,;\"']{0,200}[\d/+_=-])"
# Variables with these endings do not hold the secret, but its path or permissions, for example.
_SECRET_VARIABLE = re.compile(
    r"(pass(word|phrase)|secret|token|_key|_pat)"
    r"(?!.*_(file|path|dir|directory|folder|name|permissions|type|ttl)$)(_|$)",
    re.IGNORECASE,
)
# Shorter values would mask ordinary words.
_SHORTEST = 6

# The start of a kubeconfig (YAML and JSON, by `apiVersion` or `kind`) and of its keys, in base64.
_KUBECONFIGS_IN_BASE_64 = (
    "YXBpVmVyc2lvb",
    "a2luZDog",
    "eyJhcGlWZXJzaW9u",
    "eyJraW5kIjoi",
    "LS0tLS1CRUdJTi",
    # A registry's credentials, as Docker and Kubernetes keep them.
    "eyJhdXRocyI6",
    "ewogICJhdXRocyI6",
    "ewogICAgImF1dGhzIj",
    "ewoJImF1dGhzIj",
)

# Names have lower-case letters; most tokens have lower-case and upper-case letters and digits.
_MIXED = r"(?=[\w-]{0,90}[A-Z])(?=[\w-]{0,90}[a-z])(?=[\w-]{0,90}\d)"
# Tokens by vendor, each with its characters.
_TOKENS = (
    r"gh[oprsu]_\w{16,}",
    r"github_pat_\w{20,}",
    r"gl(?:pat|dt|rtr?|ptt|cbt|ft|imt|agent|soat|wt|ffct|oas)-[\w.-]{16,}",
    r"gl(?:c|sa)_[\w=+/-]{16,}",
    r"pul-[0-9a-f]{16,}",
    r"(?:hf|api_org)_[A-Za-z0-9]{16,}",
    rf"sk-{_MIXED}[\w-]{{16,}}",
    r"(?:nvapi|pypi|tskey|xapp|PMAK|NRAK)-[\w-]{16,}",
    r"(?:npm|gsk|r8|lin_api|figd|sntrys|pscale_\w{1,20}|xai|dckr_[a-z]+|shp[a-z]{2})_[\w=-]{20,}",
    r"rubygems_[0-9a-f]{20,}",
    r"ATATT3[\w=-]{20,}",
    r"AKCp[A-Za-z0-9]{20,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    r"xox[a-z]-[\w-]{10,}",
    r"hooks\.slack\.com/services/[\w/]+",
    r"AIza[\w-]{35}",
    r"ya29\.[\w-]{16,}",
    r"GOCSPX-[\w-]{16,}",
    r"(?:[sr]k_(?:live|test)|whsec)_\w{16,}",
    r"do[a-z]_v1_[0-9a-f]{32,}",
    r"dapi[0-9a-f]{32}",
    r"hv[sbr]\.[\w-]{16,}",
    r"[A-Za-z0-9]{10,}\.atlasv1\.[\w-]{20,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    # Client secrets of Microsoft Entra; keys of Azure services, with the service's mark.
    r"[\w~.-]{3}\dQ~[\w~.-]{31,34}",
    r"[A-Za-z0-9]{40,}JQQJ9[A-Za-z0-9]{8,}",
    r"[A-Za-z0-9]{70,}AZDO[A-Za-z0-9]{4}",
    r"(?<![+/])[A-Za-z0-9+/]{32,}(?:AzSe|AzCa|AzFu|AIoT|ASbA|AEhA|\+ACR|\+ASt|ACDb|APIM)"
    r"[A-Za-z0-9+/]{5,}={0,2}",
    # The 64 bytes of a key of a storage account, and of other services.
    r"[A-Za-z0-9+/]{86}==",
    rf"{_MIXED}[A-Za-z0-9]{{86,88}}(?![A-Za-z0-9])",
    # Any other vendor: a word, followed by many letters of both cases and digits.
    r"[A-Za-z]{2,12}\d?[_-](?:[A-Za-z0-9]{1,8}[_-]){0,2}"
    r"(?=[A-Za-z]*\d)(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?=(?:[A-Za-z]*\d){3})[A-Za-z0-9]{24,}",
)

# What looks like a secret, and its replacement.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(-----END [A-Z ]*-----|\Z)", re.S
        ),
        MASK,
    ),
    # The parts of a kubeconfig, and base64 of whole ones.
    (re.compile(r"((?:client-key|client-certificate)-data[\"']?\s*:\s*)\S+"), rf"\1{MASK}"),
    (re.compile(rf"\b(?:{'|'.join(_KUBECONFIGS_IN_BASE_64)})[A-Za-z0-9+/=]+"), MASK),
    (re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_TOKENS)})"), MASK),
    # `"auth": "..."` of a registry, also in JSON within JSON.
    (re.compile(r"(\bauth\\*[\"']?\s*:\s*\\*[\"']?)[A-Za-z0-9+/]{8,}={0,2}"), rf"\1{MASK}"),
    # JSON web tokens.
    (
        re.compile(r"(?<![\w-])(?=[\w-]++\.[\w-]++\.)([\w-]*?\b)eyJ[\w-]+\.[\w-]+\.[\w-]*"),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b((?:Bearer|Basic)\s+)[\w.~+/=-]{8,}", re.I), rf"\1{MASK}"),
    (
        re.compile(
            r"(\bAuthorization\\*[\"']?\s*[:=]\s*\\*[\"']?(?:[\w-]+\s+)?)"
            r"(?=[^\s,;\"'\\]{0,200}\d)[^\s,;\"'\\]{8,}",
            re.I,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b((?:AccountKey|SharedAccessKey|sig)=)[^;&\s\"']+", re.I), rf"\1{MASK}"),
    # `password: x`, `"token": "x"`, `client_secret=x`, but not `the password: it is required`.
    (
        # The same in JSON within JSON, at any depth.
        re.compile(
            rf"({_NAMED}\\*[\"']?\s*[=:]\s*)(\\*[\"'])(?:(?!(?<!\\)\2)(?:\\.|.))+\2", re.I
        ),
        rf"\1{MASK}",
    ),
    (re.compile(rf"({_NAMED}\s*[=:]\s*){_NO_WORD}[^\s,;\"']{{6,}}", re.I), rf"\1{MASK}"),
    # `--password x`, of a command.
    (
        re.compile(
            rf"((?<![\w-])--[\w-]*{_TELLING_NAME}\s+){_NO_WORD}[^\s,;\"'-][^\s,;\"']{{5,}}", re.I
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"(://[^/\s:@]*:)[^/\s@]+(?=@)"), rf"\1{MASK}"),
)  # fmt: skip


def clean(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Untrusted text without secrets and control characters."""
    text = without_control_characters(text)
    for name, value in environment.items():
        if _SECRET_VARIABLE.search(name):
            # A program may quote a single line of it.
            for part in (value, *map(str.strip, value.splitlines())):
                if len(part) >= _SHORTEST:
                    text = text.replace(part, MASK)
    for pattern, shown in _PATTERNS:
        text = pattern.sub(shown, text)
    return text.strip()
