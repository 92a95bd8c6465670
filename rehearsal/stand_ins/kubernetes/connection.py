"""The provider's arguments, and the connection to the cluster that they choose."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from kube.client import ApiError, Client
from kube.kubeconfig import KubeconfigError, choose, connect, parse
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError
from provider_kit.values import holds_unknown
from rehearsal.stand_ins.kubernetes.cluster import Cluster
from rehearsal.stand_ins.kubernetes.objects import refused

_PREFIX = "kubernetes:config:"
_IDENTIFIER = "clusterIdentifier"
_SECONDS_TO_CONNECT = 30

# Arguments with the only value that the stand-in knows.
_FIXED = {
    "cluster": "",
    "context": "",
    "enableConfigMapMutable": "false",
    "enablePatchForce": "false",
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
    """Refuses arguments that the stand-in would ignore."""
    for name, value in _FIXED.items():
        if arguments.get(name) not in (None, "", value):
            raise refused(f"the provider argument {name}: {arguments[name]}")


def config_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> DiffResponse:
    """Returns what a change of the arguments does: another cluster replaces everything."""
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
    """The cluster, or the reason why there is none: only what needs it fails then."""

    def __init__(self, log: EngineLog) -> None:
        self._log = log
        self._reason = "the provider is not configured"
        self._delete_unreachable = False
        self.cluster: Cluster | None = None

    async def open(self, variables: Mapping[str, str]) -> None:
        arguments = {name.removeprefix(_PREFIX): value for name, value in variables.items()}
        wish = arguments.get("deleteUnreachable") or os.environ.get(_DELETE_UNREACHABLE)
        self._delete_unreachable = wish == "true"
        try:
            async with asyncio.timeout(_SECONDS_TO_CONNECT):
                self.cluster = await connected(arguments)
        except KubeconfigError as error:
            self._reason = (
                "unable to load Kubernetes client configuration from kubeconfig file. Make sure "
                "you have set up the provider as per https://www.pulumi.com/registry/packages/"
                f"kubernetes/installation-configuration/: {error}"
            )
        except (ApiError, TimeoutError) as error:
            reason = str(error) or "context deadline exceeded"
            self._reason = f"unable to load schema information from the API server: {reason}"
        except ProviderError as error:
            self._reason = str(error)

    @property
    def reached(self) -> Cluster:
        """The cluster; raises ProviderError if there is none."""
        if self.cluster is None:
            raise ProviderError(f"configured Kubernetes cluster is unreachable: {self._reason}")
        return self.cluster

    async def may_forget(self, urn: str, *, is_deletion: bool) -> bool:
        """Whether the resources of an unreachable cluster are dropped from the state.

        Raises ProviderError if the cluster is unreachable and they are not.
        """
        if self.cluster is not None:
            return False
        await self._log.warning(
            urn, f"configured Kubernetes cluster is unreachable: {self._reason}"
        )
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


async def connected(arguments: Mapping[str, str]) -> Cluster:
    """Returns the cluster, once it has answered."""
    text = arguments.get("kubeconfig", "")
    if not {"\n", "{"} & {*text}:
        # A path may lead to a cluster that is not the rehearsal's.
        raise refused("a provider without the contents of a kubeconfig")
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
    return Cluster(client, chosen.namespace)
