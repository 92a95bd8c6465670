"""The resource classes of aks-preview, for programs.

They take azure-native's own arguments, so that a program says the same to either provider. Neither
Azure's SDK nor the provider itself is loaded.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import pulumi
from pulumi import _types as sdk_types

from aks_preview.configuration import PACKAGE, SETTINGS, contradictions

if TYPE_CHECKING:
    from pulumi_azure_native import containerservice

Headers = pulumi.Input[Mapping[str, pulumi.Input[str]]]
# Where azure-native's arguments do not know a property yet: a mapping, by its names on the wire.
OnTheWire = Mapping[str, pulumi.Input[Any]]


_CAPITAL = re.compile("[A-Z]")
# One provider for all resources of a program.
_PROVIDERS: "WeakKeyDictionary[pulumi.Resource, pulumi.ProviderResource]" = WeakKeyDictionary()


class _Resource(pulumi.CustomResource):
    """A resource with outputs of Azure's own, beside its inputs."""

    _outputs: ClassVar[tuple[str, ...]]

    def __init__(
        self, token: str, name: str, inputs: Mapping[str, Any], opts: pulumi.ResourceOptions | None
    ) -> None:
        # A property without a value is one that is to come.
        props = {**dict.fromkeys(self._outputs), **inputs}
        kind = f"{PACKAGE}:{token}"
        super().__init__(kind, name, props, _where_azure_native_is(kind, opts))

    def translate_output_property(self, prop: str) -> str:
        name = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", prop)
        return name if name in self._outputs else prop


class AgentPool(_Resource):
    """A node pool of an AKS cluster, made with HTTP headers of one's choice."""

    current_orchestrator_version: pulumi.Output[str]
    name: pulumi.Output[str]
    node_image_version: pulumi.Output[str | None]
    provisioning_state: pulumi.Output[str]
    _outputs = (
        "current_orchestrator_version",
        "name",
        "node_image_version",
        "provisioning_state",
    )

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
    """An AKS cluster, made with HTTP headers of one's choice."""

    current_kubernetes_version: pulumi.Output[str]
    fqdn: pulumi.Output[str | None]
    identity: pulumi.Output[Mapping[str, Any] | None]
    identity_profile: pulumi.Output[Mapping[str, Any] | None]
    name: pulumi.Output[str]
    node_resource_group: pulumi.Output[str]
    oidc_issuer_profile: pulumi.Output[Mapping[str, Any] | None]
    provisioning_state: pulumi.Output[str]
    _outputs = (
        "current_kubernetes_version",
        "fqdn",
        "identity",
        "identity_profile",
        "name",
        "node_resource_group",
        "oidc_issuer_profile",
        "provisioning_state",
    )

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
    """A preview feature, registered in the subscription, and taken over by its provider."""

    state: pulumi.Output[str]
    _outputs = ("state",)

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


def _inputs(args: Any, custom_headers: Headers | None) -> dict[str, Any]:
    """The inputs by their names on the wire."""
    inputs = args if isinstance(args, Mapping) else sdk_types.input_type_to_dict(args)
    return {**inputs, **({} if custom_headers is None else {"customHeaders": custom_headers})}


def _where_azure_native_is(
    kind: str, opts: pulumi.ResourceOptions | None
) -> pulumi.ResourceOptions | None:
    """Options with a provider that has azure-native's configuration.

    A plug-in sees no configuration but its own, so the program hands it over. Without any, and with
    a provider of the program's own, the options stay as they are.
    """
    given = opts or pulumi.ResourceOptions()
    if given.provider or (given.parent and given.parent.get_provider(kind)):
        return opts
    azure_native, own = _configured("azure-native"), _configured(PACKAGE)
    secret = _secrets("azure-native") | _secrets(PACKAGE)
    if found := list(contradictions(azure_native, own, secret=secret)):
        raise pulumi.RunError("\n".join(map(str, found)))
    root = pulumi.runtime.get_root_resource()
    if not azure_native or root is None:
        return opts
    if root not in _PROVIDERS:
        settings = {
            name: pulumi.Output.secret(value) if name in secret else value
            for name, value in {**azure_native, **own}.items()
        }
        _PROVIDERS[root] = pulumi.ProviderResource(PACKAGE, f"{PACKAGE}-as-azure-native", settings)
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=_PROVIDERS[root]))


def _configured(package: str) -> dict[str, str]:
    config = pulumi.Config(package)
    return {name: value for name in SETTINGS if (value := config.get(name))}


def _secrets(package: str) -> set[str]:
    """The settings that are secrets by themselves, or in the configuration of a package."""
    return {
        name
        for name, setting in SETTINGS.items()
        if setting.is_secret or pulumi.runtime.is_config_secret(f"{package}:{name}")
    }
