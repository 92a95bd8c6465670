"""Masks secrets in the messages that a report quotes.

The engine masks what it knows to be secret. This masks the values of secret variables in the
environment of this process, private keys, and the credentials of kubeconfigs.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from aksgpu.control_characters import without_control_characters
from provider_kit.secrecy import MASK, SHORTEST, Masking

# Variables with these endings do not hold the secret, but its path or permissions, for example.
_SECRET_VARIABLE = re.compile(
    r"(pass(word|phrase)|secret|token|_key|_pat)"
    r"(?!.*_(file|path|dir|directory|folder|name|permissions|type|ttl)$)(_|$)",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(-----END [A-Z ]*-----|\Z)", re.DOTALL
)
# A user's credentials in a kubeconfig, in YAML, in JSON, and in JSON within JSON.
_CREDENTIAL = re.compile(
    r"((?:client-key-data|client-certificate-data|token)\\*[\"']?\s*:\s*\\*[\"']?)[\w.+/=-]{16,}"
)
# The base64 of a kubeconfig, by its first key, and of a certificate or a key.
_IN_BASE_64 = re.compile(
    r"\b(?:YXBpVmVyc2lvb|a2luZDog|eyJhcGlWZXJzaW9u|eyJraW5kIjoi|LS0tLS1CRUdJTi)[A-Za-z0-9+/=]+"
)


def clean(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Untrusted text without secrets and control characters."""
    text = without_control_characters(text)
    text = _masking(tuple(_values(environment))).masked(text)
    text = _CREDENTIAL.sub(rf"\1{MASK}", _PRIVATE_KEY.sub(MASK, text))
    return _IN_BASE_64.sub(MASK, text).strip()


def _values(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if _SECRET_VARIABLE.search(name):
            # A program may quote a single line of it, or JSON. Shorter ones are ordinary words.
            for part in (value, *value.splitlines()):
                if len(part) >= SHORTEST:
                    yield from (part, json.dumps(part)[1:-1])


@lru_cache(maxsize=1)
def _masking(secrets: tuple[str, ...]) -> Masking:
    return Masking(secrets)
