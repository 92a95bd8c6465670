"""What would let its reader in: hidden in the state, whether or not the program asks for it."""

from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.property_value import PropertyValue

from provider_kit.configuration import SETTINGS

_CREDENTIALS = frozenset(
    {"adminPassword", "kubeconfig", "password", "secret"}
    | {name for name, setting in SETTINGS.items() if setting.is_secret}
)


def is_credential(name: str) -> bool:
    return name in _CREDENTIALS


def with_secrets(values: Mapping[str, PropertyValue]) -> dict[str, PropertyValue]:
    """The same, with everything that is a credential by its name marked as a secret."""
    return {name: _hidden(name, value) for name, value in values.items()}


def _hidden(name: str, value: PropertyValue) -> PropertyValue:
    if is_credential(name):
        return PropertyValue(value.value, is_secret=True)
    match value.value:
        case Mapping() as members:
            inner: Any = with_secrets(members)
        case list() | tuple() as items:
            inner = [_hidden("", item) for item in items]
        case _:
            return value
    return PropertyValue(inner, is_secret=value.is_secret, dependencies=value.dependencies)
