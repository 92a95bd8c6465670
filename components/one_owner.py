"""Decides whether azure-native or aks-preview manages a resource, and guards changes of that."""

from typing import Any

import pulumi

from aks_catalogue.aks_versions import MANAGED_GPUS
from aks_catalogue.headers import SETTINGS_OF_SPECIALIZED_IMAGE, SPECIALIZED_IMAGE, is_on
from aks_catalogue.shapes import at
from components.azure_reads import Values
from components.hooks import guard, resolved

_HEADERS = "customHeaders"


class OwnerError(Exception):
    """An update would move a resource to another provider, or pretend to change its image."""


def one_owner(
    opts: pulumi.ResourceOptions,
    kind: str,
    *,
    by_aks_preview: bool,
    replace_on_header_change: bool = False,
    rotates: bool = False,
) -> pulumi.ResourceOptions:
    """Returns the options of a resource that aks-preview or azure-native manages.

    Both providers manage the same Azure resource. An alias finds it in the state under the other
    provider. It stays there unless it is replaced anyway. aks-preview sees in the state that
    azure-native created the resource, and refuses or replaces. azure-native does not, so an
    option replaces the resource and a hook refuses updates. Azure names are unique, so the old
    resource is deleted first, unless it rotates: then the new one has another name.

    Only azure-native needs `replace_on_changes`: aks-preview knows which changes replace.
    """
    other = "azure-native" if by_aks_preview else "aks-preview"
    refuse = keeps_its_image if by_aks_preview else _stays
    more = pulumi.ResourceOptions(
        aliases=[pulumi.Alias(type_=f"{other}:{kind}")],
        delete_before_replace=not rotates,
        hooks=pulumi.ResourceHookBinding(before_update=[guard(refuse, in_previews=True)]),
    )
    if by_aks_preview:
        opts.replace_on_changes = None
    elif replace_on_header_change:
        more.replace_on_changes = [_HEADERS]
    return pulumi.ResourceOptions.merge(opts, more)


async def keeps_its_image(args: Any) -> None:
    """Refuses an update to or from the specialized image, which AKS only uses for new pools."""
    old: Values = args.old_inputs or {}
    if _HEADERS not in old:
        # Imported: the headers that created it are unknown.
        return
    had, has = [await _requests_image(inputs) for inputs in (old, args.new_inputs or {})]
    if has is None or had == has:
        return
    uses = "uses" if had else "does not use"
    alternative = (
        "create another pool; or set replaceOnHeaderChange: true, which deletes this pool and "
        "creates it again"
        if _is_pool(args)
        else "create another cluster"
    )
    raise OwnerError(
        f"{args.name} {uses} the specialized image, and AKS does not change the image of an "
        f"existing pool: do not change {SETTINGS_OF_SPECIALIZED_IMAGE}; or {alternative}."
    )


async def _requests_image(inputs: Values) -> bool | None:
    """Whether the headers request the image; None if a header is unknown."""
    values = await resolved({_HEADERS: inputs.get(_HEADERS)})
    if inputs.get(_HEADERS) is not None and _HEADERS not in values:
        return None
    return is_on(values.get(_HEADERS), SPECIALIZED_IMAGE)


async def _stays(args: Any) -> None:
    """Refuses an update by azure-native of a resource that aks-preview created."""
    # Only aks-preview has the headers, and the names of the resource's path, in the state.
    before = {**(args.old_inputs or {}), **(args.old_outputs or {})}
    if _HEADERS not in before and "resourceName" not in (args.old_outputs or {}):
        return
    await keeps_its_image(args)
    replacing = (
        "; or set replaceOnHeaderChange: true, which deletes this pool and creates it again"
        if _is_pool(args)
        else ""
    )
    what = "gpuStack managed" if at(args.old_inputs, MANAGED_GPUS) else "custom headers"
    raise OwnerError(
        f"aks-preview created {args.name} with {what}, and an existing resource cannot "
        f"move to azure-native: set {_HEADERS}: {{}} to keep it without headers{replacing}."
    )


def _is_pool(args: Any) -> bool:
    return str(args.type).endswith(":AgentPool")
