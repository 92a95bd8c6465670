"""Which properties of AKS's API are secrets, by their names, whether or not a program says so."""

from datetime import date
from typing import Final

# When the facts here were true.
AS_OF = date(2026, 11, 22)

# What AKS takes, and never gives back.
CREDENTIALS: Final = frozenset(
    {"adminPassword", "kubeconfig", "password", "secret", "serverAppSecret"}
)
# What may have a secret in it: a proxy's URL its password, the settings of an add-on a key.
MAY_HOLD_SECRETS: Final = frozenset({"config", "httpProxy", "httpsProxy"})
