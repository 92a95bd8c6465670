"""Secret properties of AKS, by name. They are secret even if a program does not mark them."""

from datetime import date
from typing import Final

# The date of these facts.
AS_OF = date(2026, 11, 22)

# Properties that AKS accepts, and never returns.
CREDENTIALS: Final = frozenset(
    {"adminPassword", "kubeconfig", "password", "secret", "serverAppSecret"}
)
# Properties that can contain a secret: a password in a proxy URL, a key in an add-on's settings.
CAN_CONTAIN_SECRETS: Final = frozenset({"config", "httpProxy", "httpsProxy"})
