"""Whose a pool or a cluster is: azure-native's or aks-preview's, and what a change of that does."""

from typing import Any

import pulumi

from components.hooks import guard

_HEADERS = "customHeaders"


def one_owner(
    opts: pulumi.ResourceOptions,
    kind: str,
    *,
    has_headers: bool,
    replace_on_header_change: bool = False,
) -> pulumi.ResourceOptions:
    """Returns the options of a resource: aks-preview makes it if it has headers, else azure-native.

    It is one resource of one name in Azure. The alias finds it in a state where it is the other
    provider's. There it stays, unless a replacement is asked for: aks-preview sees from the state
    that azure-native made it, and refuses or replaces; azure-native cannot, so a hook refuses, and
    an option replaces. The old one has to go before the new one can have its name.

    What a change replaces is azure-native's to be told; aks-preview knows by itself.
    """
    other = "azure-native" if has_headers else "aks-preview"
    own = pulumi.ResourceOptions(
        aliases=[pulumi.Alias(type_=f"{other}:{kind}")], delete_before_replace=True
    )
    if has_headers:
        opts.replace_on_changes = None
    elif replace_on_header_change:
        own.replace_on_changes = [_HEADERS]
    else:
        own.hooks = pulumi.ResourceHookBinding(before_update=[guard(_stays, in_previews=True)])
    return pulumi.ResourceOptions.merge(opts, own)


def _stays(args: Any) -> None:
    """Refuses an update by azure-native of what aks-preview made."""
    # In its states stand the headers, and the names in the resource's path.
    before = {**(args.old_inputs or {}), **(args.old_outputs or {})}
    if _HEADERS not in before and "resourceName" not in (args.old_outputs or {}):
        return
    replacing = (
        "; or set replaceOnHeaderChange: true, which deletes this pool and makes it anew"
        if args.type.endswith(":AgentPool")
        else ""
    )
    raise RuntimeError(
        f"{args.name} was made with custom headers, by aks-preview. What runs does not change its "
        f"provider: set {_HEADERS}: {{}} to keep it there without headers{replacing}."
    )
