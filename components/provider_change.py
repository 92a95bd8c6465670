"""How a resource may move between azure-native and aks-preview."""

from collections.abc import Sequence

import pulumi

_PROVIDERS = ("azure-native", "aks-preview")


def provider_change(
    parent: pulumi.Resource,
    kind: str,
    *,
    has_headers: bool,
    ignore_changes: Sequence[str],
    replace_on_changes: Sequence[str],
) -> pulumi.ResourceOptions:
    """Returns the options of a resource: aks-preview makes it if it has headers, else azure-native.

    It is one resource of one name in Azure. The alias finds it in a state where it was the other
    provider's; the trigger has it replaced then, since headers reach Azure when it is made; and the
    old one has to go before the new one can have its name.

    What a change replaces is azure-native's to be told; aks-preview knows by itself.
    """
    used, unused = reversed(_PROVIDERS) if has_headers else _PROVIDERS
    return pulumi.ResourceOptions(
        parent=parent,
        ignore_changes=list(ignore_changes),
        replace_on_changes=[] if has_headers else list(replace_on_changes),
        aliases=[pulumi.Alias(type_=f"{unused}:{kind}")],
        delete_before_replace=True,
        replacement_trigger=used,
    )
