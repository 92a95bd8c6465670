"""Reads kubeconfigs, connects by them, and writes them.

Their content is a secret. No message contains it, and only files that nobody else can read do, for
as long as the client reads them.
"""

import base64
import binascii
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from kube_client.login import LoginError, signed_in

if TYPE_CHECKING:
    from kubernetes.aio.client import ApiClient

Kubeconfig = dict[str, Any]

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# Names of files in a kubeconfig; the same names with "-data" hold their content.
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_DATA = "-data"


class KubeconfigError(Exception):
    """Why a kubeconfig cannot be used."""


class CertificateError(KubeconfigError):
    """A certificate or key in it cannot be used."""


class SignInError(KubeconfigError):
    """Why the program that it names did not sign its user in."""


@dataclass(frozen=True)
class Chosen:
    """The cluster, user and namespace of a context."""

    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    namespace: str


class Files(NamedTuple):
    """The files that a client needs: the server's authority, its own certificate and its key."""

    authority: Path
    # None where it signs in otherwise, or not at all.
    certificate: Path | None = None
    key: Path | None = None
    # What its user has in a kubeconfig in place of a certificate, such as `exec`.
    login: Mapping[str, Any] = MappingProxyType({})


def parse(text: str) -> Kubeconfig:
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError as error:
        # The error's own words may quote the content.
        mark = getattr(error, "problem_mark", None)
        where = (
            f"line {mark.line + 1} is not YAML" if mark else "control characters are not allowed"
        )
        raise KubeconfigError(f"yaml: {where}") from None
    if not isinstance(config, dict):
        raise KubeconfigError("couldn't get version/kind: it is not a kubeconfig")
    return config


def read(file: Path) -> Kubeconfig:
    """Returns the kubeconfig in a file, with absolute paths in it."""
    try:
        config = parse(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise KubeconfigError(f"{file} cannot be read: {reason}") from None
    for kind in ("cluster", "user"):
        for _, part in _entries(config, kind):
            for name in _FILES:
                # What is no text is refused where it is used.
                if part.get(name) and isinstance(part[name], str):
                    part[name] = str(file.parent.resolve() / part[name])
    return config


def choose(config: Kubeconfig, namespace: str = "") -> Chosen:
    """Returns the current context; a namespace overrides its own."""
    context = config.get("current-context") or ""
    if not context:
        raise KubeconfigError("invalid configuration: no configuration has been provided")
    found = _named(config, "context", context)
    if found is None:
        raise KubeconfigError(f'context "{context}" does not exist')
    cluster = found.get("cluster", "")
    server = _named(config, "cluster", cluster)
    if server is None:
        raise KubeconfigError(f'cluster "{cluster}" does not exist')
    if not server.get("server"):
        raise KubeconfigError("invalid configuration: cluster has no server defined")
    user = _named(config, "user", found.get("user", "")) or {}
    return Chosen(server, user, namespace or found.get("namespace") or "default")


async def connect(
    chosen: Chosen, environment: Mapping[str, str] = MappingProxyType({})
) -> "ApiClient":
    """Returns a connection; the first request shows whether the cluster answers.

    A program that signs the user in, as `kubelogin` does, is run with this process's environment
    and `environment` on top.
    """
    # It takes a third of a second, and most who read kubeconfigs connect to no cluster.
    from kubernetes.aio.config import (  # noqa: PLC0415
        ConfigException,
        new_client_from_config_dict,
    )

    try:
        user = await signed_in(chosen.user, environment)
    except LoginError as error:
        raise SignInError(str(error)) from None
    # The official client reads certificates and keys from files only, once. It would keep the
    # files that it writes itself until the process ends.
    with tempfile.TemporaryDirectory(prefix="kubeconfig-") as folder:
        parts = {"cluster": chosen.cluster, "user": user}
        config = {
            "current-context": "chosen",
            "contexts": [{"name": "chosen", "context": dict.fromkeys(parts, "chosen")}],
            **{
                f"{kind}s": [{"name": "chosen", kind: _on_disk(part, Path(folder))}]
                for kind, part in parts.items()
            },
        }
        try:
            client = await new_client_from_config_dict(config, temp_file_path=folder)  # type: ignore[no-untyped-call]
        except ConfigException as error:
            raise KubeconfigError(f"invalid configuration: {error}") from None
        except OSError:
            raise CertificateError("its certificate or key cannot be used") from None
        except (AttributeError, KeyError, TypeError, ValueError):
            raise KubeconfigError("invalid configuration: it is not a kubeconfig") from None
    if urlsplit(chosen.cluster["server"]).hostname in _LOOPBACK:
        # As kubectl does: never through a proxy to this machine itself.
        client.configuration.client_session_kwargs = {"trust_env": False}
    found: ApiClient = client
    return found


def written(
    server: str, files: Files, *, cluster: str, user: str, context: str, embeds_files: bool
) -> str:
    """Returns a kubeconfig. One that embeds the files works anywhere."""

    def part(name: str, file: Path | None) -> dict[str, str]:
        if file is None:
            return {}
        if not embeds_files:
            return {name: str(file)}
        return {f"{name}{_DATA}": base64.b64encode(file.read_bytes()).decode()}

    endpoint = {"server": server, **part("certificate-authority", files.authority)}
    credentials = {
        **part("client-certificate", files.certificate),
        **part("client-key", files.key),
        **files.login,
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": endpoint}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": context, "context": {"cluster": cluster, "user": user}}],
        "current-context": context,
        "preferences": {},
    }
    return yaml.safe_dump(content, sort_keys=False)


def _on_disk(part: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns a part of a kubeconfig, with the data in it moved to files."""
    result = dict(part)
    for name in [name for name in _FILES if f"{name}{_DATA}" in part]:
        file = folder / name
        try:
            file.write_bytes(base64.b64decode(result.pop(f"{name}{_DATA}")))
        except (binascii.Error, TypeError, ValueError):
            raise KubeconfigError(f"invalid configuration: {name}{_DATA} is not base64") from None
        result[name] = str(file)
    return result


def _named(config: Kubeconfig, kind: str, name: str) -> dict[str, Any] | None:
    return next((part for other, part in _entries(config, kind) if other == name), None)


def _entries(config: Kubeconfig, kind: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yields the names and values of the clusters, contexts or users of a kubeconfig."""
    entries = config.get(f"{kind}s")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get(kind), dict):
            yield entry.get("name"), entry[kind]
