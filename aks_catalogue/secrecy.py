"""Secret properties of AKS, by name, and Pulumi's mark of a secret.

The properties are secret even if a program does not mark them.
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

# The date of these facts.
AS_OF = date(2026, 11, 22)

# Properties that AKS accepts, and never returns.
CREDENTIALS: Final = frozenset(
    {"adminPassword", "kubeconfig", "password", "secret", "serverAppSecret"}
)
# Properties that can contain a secret: a password in a proxy URL, a key in an add-on's settings.
CAN_CONTAIN_SECRETS: Final = frozenset({"config", "httpProxy", "httpsProxy"})

# The key, and its value, with which Pulumi marks a secret: in states, in events, and between the
# engine and a program.
SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
MARKED: Final = "1b47061264138c4ac30d75fd1eb44270"


def with_secrets(value: Any, of_secret: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Returns a value with what a function makes of each secret, which the engine marks."""
    match value:
        case Mapping() if value.get(SIGNATURE) == MARKED:
            return of_secret(value)
        case Mapping():
            return {name: with_secrets(each, of_secret) for name, each in value.items()}
        case list() | tuple():
            return [with_secrets(each, of_secret) for each in value]
    return value
