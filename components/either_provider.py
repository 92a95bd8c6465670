"""A resource that azure-native makes, or aks-preview where it has custom headers."""

from typing import Any

import pulumi

_PROVIDERS = ("azure-native", "aks-preview")


def either_provider(
    parent: pulumi.Resource, kind: str, *, has_headers: bool, ignore_changes: list[str]
) -> pulumi.ResourceOptions:
    """Options under which a resource may move from the one provider to the other.

    It is one resource of one name in Azure. The alias finds it in the state where it was the other
    provider's; the trigger has it replaced then, since headers reach Azure when it is made; and the
    old one has to go before the new one can have its name.
    """
    used, unused = reversed(_PROVIDERS) if has_headers else _PROVIDERS
    more: dict[str, Any] = {"replacement_trigger": used}
    return pulumi.ResourceOptions(
        parent=parent,
        ignore_changes=ignore_changes,
        aliases=[pulumi.Alias(type_=f"{unused}:{kind}")],
        delete_before_replace=True,
        **more,
    )
