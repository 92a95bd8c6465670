"""A kubeconfig, and the client that it makes. Its content goes nowhere else: not into a message,
and into files only that nobody else can read, for as long as the client reads them."""

import base64
import binascii
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from kubernetes.aio.client import ApiClient
from kubernetes.aio.config import ConfigException, new_client_from_config_dict

from aksgpu.check.causes import Cause, CheckError

Kubeconfig = dict[str, Any]

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# What a kubeconfig may name as a file, beside it, or hold itself.
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def read_file(file: Path) -> Kubeconfig:
    """That of a file, with the paths in it made absolute."""
    try:
        config = parse(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise _unusable(f"{file} cannot be read: {reason}") from None
    for part in _parts(config):
        for name in _FILES:
            if part.get(name):
                part[name] = str(file.parent.resolve() / part[name])
    return config


def parse(text: str) -> Kubeconfig:
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError:
        # The error's own words quote the content.
        raise _unusable("the kubeconfig is no YAML") from None
    if not isinstance(config, dict) or "clusters" not in config:
        raise _unusable("what should be a kubeconfig is none")
    return config


async def connect(config: Kubeconfig) -> ApiClient:
    """A client for the cluster of the kubeconfig's current context."""
    # The client reads certificates and keys from files alone, and that once. It would keep what it
    # writes itself until the process ends, under a name that it takes for still there.
    with tempfile.TemporaryDirectory(prefix="aksgpu-check-") as folder:
        _to_files(config, Path(folder))
        try:
            client = await new_client_from_config_dict(config, temp_file_path=folder)  # type: ignore[no-untyped-call]
        except ConfigException as error:
            raise _unusable(f"the kubeconfig cannot be used: {error}") from None
        except OSError:
            raise _unusable("the kubeconfig's certificate or key cannot be used") from None
        except (AttributeError, KeyError, TypeError, ValueError):
            raise _unusable("the kubeconfig is not formed as one") from None
    if urlsplit(client.configuration.host).hostname in _LOOPBACK:
        # As kubectl does: never through a proxy to this machine itself.
        client.configuration.client_session_kwargs = {"trust_env": False}
    found: ApiClient = client
    return found


def _to_files(config: Kubeconfig, folder: Path) -> None:
    """Puts what the kubeconfig holds itself into files of the folder."""
    for number, part in enumerate(_parts(config)):
        for name in [name for name in _FILES if f"{name}-data" in part]:
            file = folder / f"{number}-{name}"
            try:
                file.write_bytes(base64.b64decode(part.pop(f"{name}-data")))
            except (binascii.Error, TypeError, ValueError):
                raise _unusable(f"the kubeconfig's {name}-data is not base64") from None
            part[name] = str(file)


def _parts(config: Kubeconfig) -> list[dict[str, Any]]:
    """What it says of each cluster and of each user."""
    return [
        entry[kind]
        for kind in ("cluster", "user")
        for entry in config.get(f"{kind}s") or ()
        if isinstance(entry, Mapping) and isinstance(entry.get(kind), dict)
    ]


def _unusable(what: str) -> CheckError:
    return CheckError(
        Cause.STACK_UNREADABLE, what, "get a new one: az aks get-credentials, or pulumi refresh"
    )
