"""The provider's arguments, and the connection to their cluster."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from kube_client.client import ApiError, Client
from kube_client.kubeconfig import CertificateError, KubeconfigError, choose, connect, parse
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError
from rehearsal.offline_plug_ins.kubernetes.cluster import Cluster
from rehearsal.offline_plug_ins.kubernetes.objects import holds_unknown, refused

_PREFIX = "kubernetes:config:"
_IDENTIFIER = "clusterIdentifier"
_SECONDS_TO_CONNECT = 30

# Arguments with the only value that the offline plug-in supports.
_FIXED = {
    "cluster": "",
    "context": "",
    "enableSecretMutable": "false",
    "enableServerSideApply": "true",
    "renderYamlToDirectory": "",
    "skipUpdateUnreachable": "false",
    "strictMode": "false",
    "upsertExistingObjects": "false",
}
_DELETE_UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"

_REMOVABLE = (
    "you can remove this resource from Pulumi state by rerunning the operation with the "
    f'{_DELETE_UNREACHABLE} environment variable set to "true"'
)


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Refuses arguments that the offline plug-in would ignore."""
    for name, value in _FIXED.items():
        if arguments.get(name) not in (None, "", value):
            raise refused(f"the provider argument {name}: {arguments[name]}")


def config_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> DiffResponse:
    """Returns the diff of the arguments: another cluster replaces all resources."""
    changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    is_identified = bool(old.get(_IDENTIFIER) and new.get(_IDENTIFIER))
    decisive = _IDENTIFIER if is_identified else "kubeconfig"
    replaces = decisive in changed and (is_identified or _is_another_cluster(old, new))
    return DiffResponse(
        changes=bool(changed), replaces=[decisive] if replaces else [], diffs=changed
    )


def _is_another_cluster(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if holds_unknown(new.get("kubeconfig")):
        return True
    try:
        before, after = (choose(parse(side.get("kubeconfig") or "")) for side in (old, new))
    except KubeconfigError:
        return False
    return before.cluster != after.cluster


class Connection:
    """The cluster, or the reason why it is unreachable, which fails only calls that need it.

    A certificate that cannot be used fails the provider as a whole.
    """

    def __init__(self, log: EngineLog) -> None:
        self._log = log
        self.reason = "the provider is not configured"
        self._delete_unreachable = False
        # Whether a change of a ConfigMap's content updates it.
        self.has_mutable_config_maps = False
        self.cluster: Cluster | None = None
        self.kubeconfig = ""

    async def open(self, variables: Mapping[str, str]) -> None:
        arguments = {name.removeprefix(_PREFIX): value for name, value in variables.items()}
        wish = arguments.get("deleteUnreachable") or os.environ.get(_DELETE_UNREACHABLE)
        self._delete_unreachable = wish == "true"
        self.has_mutable_config_maps = arguments.get("enableConfigMapMutable") == "true"
        self.kubeconfig = arguments.get("kubeconfig", "")
        try:
            async with asyncio.timeout(_SECONDS_TO_CONNECT):
                self.cluster = await connect_cluster(arguments)
        except CertificateError as error:
            raise ProviderError(f"failed to initialize discovery client: {error}") from None
        except KubeconfigError as error:
            self.reason = (
                "unable to load Kubernetes client configuration from kubeconfig file. Make sure "
                "you have set up the provider as per https://www.pulumi.com/registry/packages/"
                f"kubernetes/installation-configuration/: {error}"
            )
        except (ApiError, TimeoutError) as error:
            reason = str(error) or "context deadline exceeded"
            self.reason = f"unable to load schema information from the API server: {reason}"
        except ProviderError as error:
            self.reason = str(error)

    @property
    def reached(self) -> Cluster:
        """Returns the cluster; raises ProviderError if it is unreachable."""
        if self.cluster is None:
            raise ProviderError(f"configured Kubernetes cluster is unreachable: {self.reason}")
        return self.cluster

    async def may_forget(self, urn: str, *, is_deletion: bool) -> bool:
        """Whether to drop a resource from the state, because its cluster is unreachable.

        Raises ProviderError if the cluster is unreachable and the resource has to stay.
        """
        if self.cluster is not None:
            return False
        await self._log.warning(urn, f"configured Kubernetes cluster is unreachable: {self.reason}")
        if self._delete_unreachable:
            await self._log.info(
                urn,
                "configured Kubernetes cluster is unreachable and the `deleteUnreachable` option "
                "is enabled. Deleting the unreachable resource from Pulumi state",
            )
            return True
        failed = (
            "configured Kubernetes cluster is unreachable"
            if is_deletion
            else "failed to read resource state due to unreachable cluster"
        )
        raise ProviderError(f"{failed}. If the cluster was deleted, {_REMOVABLE}")


async def connect_cluster(arguments: Mapping[str, str]) -> Cluster:
    """Connects to the cluster of the arguments."""
    text = arguments.get("kubeconfig", "")
    if not {"\n", "{"} & {*text}:
        # A kubeconfig at a path may belong to another cluster than the rehearsal's.
        raise refused("a provider without the content of a kubeconfig")
    try:
        config = parse(text)
    except KubeconfigError as error:
        raise ProviderError(
            f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {error}"
        ) from None
    chosen = choose(config, namespace=arguments.get("namespace", ""))
    client = Client(await connect(chosen))
    try:
        await client.get("/version")
    except BaseException:
        await client.close()
        raise
    by_force = arguments.get("enablePatchForce") == "true"
    return Cluster(client, chosen.namespace, patches_by_force=by_force)
