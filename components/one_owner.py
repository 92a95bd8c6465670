"""Whose a pool or a cluster is: azure-native's or aks-preview's, and what a change of that does."""

from typing import Any

import pulumi

from catalogue.headers import SETTINGS_OF_SPECIALIZED_IMAGE, SPECIALIZED_IMAGE, is_on
from components.hooks import guard
from components.live_pools import Values, plain

_HEADERS = "customHeaders"


class OwnerError(Exception):
    """An update would give what runs another provider, or say that it has another image."""


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
    that azure-native made it, and refuses or replaces; azure-native cannot, so an option replaces,
    and a hook refuses any update. The old one has to go before the new one can have its name.

    What a change replaces is azure-native's to be told; aks-preview knows by itself.
    """
    other = "azure-native" if has_headers else "aks-preview"
    refuse = keeps_its_image if has_headers else _stays
    own = pulumi.ResourceOptions(
        aliases=[pulumi.Alias(type_=f"{other}:{kind}")],
        delete_before_replace=True,
        hooks=pulumi.ResourceHookBinding(before_update=[guard(refuse, in_previews=True)]),
    )
    if has_headers:
        opts.replace_on_changes = None
    elif replace_on_header_change:
        own.replace_on_changes = [_HEADERS]
    return pulumi.ResourceOptions.merge(opts, own)


async def keeps_its_image(args: Any) -> None:
    """Refuses an update to or from the specialized image, which AKS gives to new nodes alone."""
    old: Values = args.old_inputs or {}
    if _HEADERS not in old:
        # Imported: nobody can say which headers made it.
        return
    had, asks = [await _asks_for_image(inputs) for inputs in (old, args.new_inputs or {})]
    if asks is None or had == asks:
        return
    has = "has" if had else "has not"
    ways_out = (
        "make another pool, or set replaceOnHeaderChange: true, which deletes this pool and makes "
        "it anew"
        if _is_pool(args)
        else "make another cluster"
    )
    raise OwnerError(
        f"{args.name} {has} the specialized image, and AKS chooses a pool's image when it makes "
        f"the pool: leave {SETTINGS_OF_SPECIALIZED_IMAGE}, as it was; or {ways_out}."
    )


async def _asks_for_image(inputs: Values) -> bool | None:
    """Whether the inputs ask for the image; None while some of the headers are to come."""
    found = await plain({_HEADERS: inputs.get(_HEADERS)})
    if inputs.get(_HEADERS) is not None and _HEADERS not in found:
        return None
    return is_on(found.get(_HEADERS), SPECIALIZED_IMAGE)


async def _stays(args: Any) -> None:
    """Refuses an update by azure-native of what aks-preview made."""
    # In its states stand the headers, and the names in the resource's path.
    before = {**(args.old_inputs or {}), **(args.old_outputs or {})}
    if _HEADERS not in before and "resourceName" not in (args.old_outputs or {}):
        return
    await keeps_its_image(args)
    replacing = (
        "; or set replaceOnHeaderChange: true, which deletes this pool and makes it anew"
        if _is_pool(args)
        else ""
    )
    raise OwnerError(
        f"{args.name} was made with custom headers, by aks-preview. What runs does not change its "
        f"provider: set {_HEADERS}: {{}} to keep it there without headers{replacing}."
    )


def _is_pool(args: Any) -> bool:
    return str(args.type).endswith(":AgentPool")
