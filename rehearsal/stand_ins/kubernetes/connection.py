"""The one cluster of a provider, or why there is none."""

import asyncio

from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.cluster import Cluster, connect
from rehearsal.stand_ins.kubernetes.kubeconfig import KubeconfigError, ambient, choose, given
from rehearsal.stand_ins.kubernetes.settings import Settings

_SECONDS_TO_CONNECT = 30

_REMOVABLE = (
    "you can remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)


class Connection:
    """A provider can be configured without a cluster: only what needs it fails then."""

    def __init__(self, log: EngineLog) -> None:
        self._log = log
        self._reason = "the provider is not configured"
        self._delete_unreachable = False
        self.cluster: Cluster | None = None

    async def open(self, settings: Settings) -> None:
        self._delete_unreachable = settings.delete_unreachable
        try:
            config = given(settings.kubeconfig) if settings.kubeconfig else ambient()
        except KubeconfigError as error:
            self._reason = (
                f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {error}"
            )
            return
        try:
            chosen = choose(
                config,
                context=settings.context,
                cluster=settings.cluster,
                namespace=settings.namespace,
            )
            async with asyncio.timeout(_SECONDS_TO_CONNECT):
                self.cluster = await connect(chosen)
        except KubeconfigError as error:
            self._reason = (
                "unable to load Kubernetes client configuration from kubeconfig file. Make sure "
                "you have set up the provider as per https://www.pulumi.com/registry/packages/"
                f"kubernetes/installation-configuration/: {error}"
            )
        except ProviderError as error:
            self._reason = f"unable to load schema information from the API server: {error}"
        except TimeoutError:
            self._reason = (
                "unable to load schema information from the API server: context deadline exceeded"
            )

    @property
    def reached(self) -> Cluster:
        """The cluster, for what cannot do without it."""
        if self.cluster is None:
            raise ProviderError(f"configured Kubernetes cluster is unreachable: {self._reason}")
        return self.cluster

    async def may_forget(self, urn: str, *, is_deletion: bool) -> bool:
        """Whether there is no cluster, and what was on it shall be forgotten.

        If there is none and nothing shall be forgotten, an error says so.
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
