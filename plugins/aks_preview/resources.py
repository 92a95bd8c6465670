"""The resource classes of aks-preview, for programs.

They accept azure-native's arguments, so that a program can use either provider. This module imports
neither the Azure SDK nor the provider itself.
"""

import inspect
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pulumi
from pulumi import _types as sdk_types

from aks_preview.configuration import DOWNLOAD_URL, PACKAGE, SETTINGS, VERSION

if TYPE_CHECKING:
    from pulumi_azure_native import containerservice

Headers = pulumi.Input[Mapping[str, pulumi.Input[str]]]
# A mapping by the names in requests, for properties that azure-native's arguments do not have yet.
OnTheWire = Mapping[str, pulumi.Input[Any]]


_CAPITAL = re.compile("[A-Z]")
# One provider for all resources of a program.
_PROVIDERS: "WeakKeyDictionary[pulumi.Resource, pulumi.ProviderResource]" = WeakKeyDictionary()


def _outputs(kind: type) -> list[str]:
    """Returns the outputs of a resource, also of one that a program derives from it."""
    own = [each for each in kind.__mro__ if each.__module__ == __name__]
    return [name for each in own for name in inspect.get_annotations(each)]


class _Resource(pulumi.CustomResource):
    """A resource; its annotations are the outputs that are not inputs."""

    def __init__(
        self, token: str, name: str, inputs: Mapping[str, Any], opts: pulumi.ResourceOptions | None
    ) -> None:
        # A property without a value becomes an output.
        props = {**dict.fromkeys(_outputs(type(self))), **inputs}
        kind = f"{PACKAGE}:{token}"
        own = _with_plug_in(_with_azure_native_settings(kind, opts))
        # The engine asks for no diff of a resource that `taint` or `--replace` replaces.
        first = pulumi.ResourceOptions(delete_before_replace=True)
        super().__init__(kind, name, props, pulumi.ResourceOptions.merge(first, own))

    def translate_output_property(self, prop: str) -> str:
        name = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", prop)
        return name if name in _outputs(type(self)) else prop


class AgentPool(_Resource):
    """A node pool of an AKS cluster, created with custom HTTP headers."""

    current_orchestrator_version: pulumi.Output[str]
    name: pulumi.Output[str]
    node_image_version: pulumi.Output[str | None]
    provisioning_state: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        args: "containerservice.AgentPoolArgs | OnTheWire",
        opts: pulumi.ResourceOptions | None = None,
        *,
        custom_headers: Headers | None = None,
        replace_on_header_change: pulumi.Input[bool] | None = None,
    ) -> None:
        inputs = _inputs(args, custom_headers)
        if replace_on_header_change is not None:
            inputs["replaceOnHeaderChange"] = replace_on_header_change
        super().__init__("containerservice:AgentPool", resource_name, inputs, opts)


class ManagedCluster(_Resource):
    """An AKS cluster, created with custom HTTP headers."""

    current_kubernetes_version: pulumi.Output[str]
    fqdn: pulumi.Output[str | None]
    identity: pulumi.Output[Mapping[str, Any] | None]
    identity_profile: pulumi.Output[Mapping[str, Any] | None]
    name: pulumi.Output[str]
    node_resource_group: pulumi.Output[str]
    oidc_issuer_profile: pulumi.Output[Mapping[str, Any] | None]
    provisioning_state: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        args: "containerservice.ManagedClusterArgs | OnTheWire",
        opts: pulumi.ResourceOptions | None = None,
        *,
        custom_headers: Headers | None = None,
    ) -> None:
        inputs = _inputs(args, custom_headers)
        super().__init__("containerservice:ManagedCluster", resource_name, inputs, opts)


class FeatureRegistration(_Resource):
    """A preview feature that is registered in the subscription and active in its provider."""

    state: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        provider_namespace: pulumi.Input[str],
        feature_name: pulumi.Input[str],
        unregister_on_delete: pulumi.Input[bool] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        inputs = {
            "providerNamespace": provider_namespace,
            "featureName": feature_name,
            "unregisterOnDelete": unregister_on_delete,
        }
        super().__init__("features:FeatureRegistration", resource_name, inputs, opts)


def on_the_wire(args: Any) -> dict[str, Any]:
    """Returns azure-native's arguments by their names in Azure's API."""
    inputs: dict[str, Any] = sdk_types.input_type_to_dict(args)
    return inputs


def _inputs(args: Any, custom_headers: Headers | None) -> dict[str, Any]:
    """Returns the inputs by their names in requests."""
    inputs = args if isinstance(args, Mapping) else on_the_wire(args)
    return {**inputs, **({} if custom_headers is None else {"customHeaders": custom_headers})}


def _with_azure_native_settings(
    kind: str, opts: pulumi.ResourceOptions | None
) -> pulumi.ResourceOptions | None:
    """Returns options with a provider that has azure-native's configuration.

    A plug-in gets only its own configuration, so the program passes azure-native's. If there is
    none, or the program sets a provider, the options do not change.
    """
    options, azure_native = opts or pulumi.ResourceOptions(), _configured("azure-native")
    has_provider = options.provider or (options.parent and options.parent.get_provider(kind))
    root = pulumi.runtime.get_root_resource()
    if has_provider or not azure_native or root is None:
        return opts
    if root not in _PROVIDERS:
        settings = {**_configured(PACKAGE), **azure_native}
        _PROVIDERS[root] = pulumi.ProviderResource(
            PACKAGE, f"{PACKAGE}-as-azure-native", settings, _with_plug_in(None)
        )
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=_PROVIDERS[root]))


def _with_plug_in(opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """Returns options from which the engine knows which plug-in it needs, and where it is."""
    source = pulumi.ResourceOptions(version=VERSION, plugin_download_url=DOWNLOAD_URL)
    return pulumi.ResourceOptions.merge(source, opts)


def _configured(package: str) -> dict[str, pulumi.Input[str]]:
    """Returns a package's settings: as secrets, if they are by definition or in the stack."""
    config, settings = pulumi.Config(package), dict[str, pulumi.Input[str]]()
    for name, setting in SETTINGS.items():
        if value := config.get(name):
            is_secret = setting.is_secret or pulumi.runtime.is_config_secret(f"{package}:{name}")
            settings[name] = pulumi.Output.secret(value) if is_secret else value
    return settings
