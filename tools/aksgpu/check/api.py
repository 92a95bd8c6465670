"""The API server of the cluster that is checked, and findings for its errors."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import MappingProxyType

from aksgpu.outcome import Cause, Finding, stopped
from kube_client.client import FORBIDDEN, UNAUTHORIZED, ApiError, Client, NoAnswerError
from kube_client.kubeconfig import Kubeconfig, KubeconfigError, SignInError, choose, connect


@asynccontextmanager
async def opened(
    config: Kubeconfig, environment: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Client]:
    """A client for the API server of a kubeconfig; it connects with the first request."""
    with kubeconfig_required():
        api = Client(await connect(choose(config), environment))
    try:
        yield api
    finally:
        await api.close()


@contextmanager
def kubeconfig_required() -> Iterator[None]:
    """Ends the check if a kubeconfig cannot be used."""
    try:
        yield
    except SignInError as error:
        raise stopped(
            Cause.CREDENTIALS_REFUSED,
            f"not signed in to the cluster: {error}",
            "sign in and try again: for kubelogin, `az login` and "
            "`export AAD_LOGIN_METHOD=azurecli`; `az aks install-cli` installs it",
        ) from None
    except KubeconfigError as error:
        raise stopped(
            Cause.CLUSTER_UNREACHABLE,
            f"the kubeconfig cannot be used: {error}",
            "get a new one: `az aks get-credentials`, or `pulumi up --refresh` for a stack's",
        ) from None


def is_final(error: ApiError) -> bool:
    """Whether every other request would fail too."""
    return isinstance(error, NoAnswerError) or error.status == UNAUTHORIZED


def refused(what: str, error: ApiError) -> Finding:
    """A finding for a failed request: what failed, why, and what to do."""
    if isinstance(error, NoAnswerError):
        cause, advice = (
            Cause.CLUSTER_UNREACHABLE,
            "start the cluster if it is stopped; check that this address may reach it "
            "(authorizedIpRanges, private)",
        )
    elif error.status == UNAUTHORIZED:
        cause, advice = (
            Cause.CREDENTIALS_REFUSED,
            "get new credentials: `az aks get-credentials`, or `pulumi up --refresh` for a stack's",
        )
    elif error.status == FORBIDDEN:
        cause, advice = Cause.CREDENTIALS_REFUSED, "request the permission, and try again"
    else:
        cause, advice = (
            Cause.CLUSTER_UNREACHABLE,
            "try again; if it persists, check that this is the API server of a cluster",
        )
    return Finding(cause, f"{what}: {error}", advice)
