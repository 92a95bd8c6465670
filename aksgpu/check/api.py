"""The API server of the cluster that is checked."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import MappingProxyType
from typing import Any

from aksgpu.outcome import Cause, stopped
from kube.client import FORBIDDEN, UNAUTHORIZED, ApiError, Client, NoAnswerError
from kube.kubeconfig import Kubeconfig, KubeconfigError, choose, connect


class Api(Client):
    """A client whose failures end the check, but for those of a single request."""

    async def request(self, method: str, path: str, *more: Any) -> bytes:
        try:
            return await super().request(method, path, *more)
        except NoAnswerError as error:
            raise stopped(
                Cause.CLUSTER_UNREACHABLE,
                str(error),
                "is the cluster started, and may this address reach it (authorizedIpRanges, "
                "private)?",
            ) from None
        except ApiError as error:
            if error.status not in (UNAUTHORIZED, FORBIDDEN):
                raise
            raise stopped(
                Cause.CREDENTIALS_REFUSED,
                f"the API server refuses {method} {path}: {error}",
                "ask for new credentials (pulumi refresh, az aks get-credentials), or for the "
                "rights to do so",
            ) from None


@asynccontextmanager
async def opened(
    config: Kubeconfig, environment: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Api]:
    """The API server that a kubeconfig names; whether it answers shows at the first request."""
    with kubeconfig_required():
        api = Api(await connect(choose(config), environment))
    try:
        yield api
    finally:
        await api.close()


@contextmanager
def kubeconfig_required() -> Iterator[None]:
    """Ends the check where a kubeconfig cannot be used."""
    try:
        yield
    except KubeconfigError as error:
        raise stopped(
            Cause.STACK_UNREADABLE,
            f"the kubeconfig cannot be used: {error}",
            "get a new one (az aks get-credentials, or pulumi refresh); on a cluster with Entra, "
            "install kubelogin and sign in (az login, AAD_LOGIN_METHOD=azurecli)",
        ) from None
