"""Kubeconfigs: for the control plane's own parts, and for who asks Azure for credentials."""

import base64
from pathlib import Path

import yaml

from rehearsal.control_planes.authority import Certificates


def written(cluster: str, user: str, context: str, server: str, files: Certificates) -> str:
    """One with all in it, so that it works wherever it is taken on this machine."""
    return _kubeconfig(
        cluster,
        user,
        context,
        {"server": server, "certificate-authority-data": _data(files.authority)},
        {
            "client-certificate-data": _data(files.certificate("user")),
            "client-key-data": _data(files.key("user")),
        },
    )


def of_part(part: str, server: str, files: Certificates) -> str:
    """One that names the files of a part of the control plane."""
    return _kubeconfig(
        "cluster",
        part,
        part,
        {"server": server, "certificate-authority": str(files.authority)},
        {
            "client-certificate": str(files.certificate(part)),
            "client-key": str(files.key(part)),
        },
    )


def _kubeconfig(
    cluster: str, user: str, context: str, where: dict[str, str], who: dict[str, str]
) -> str:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": where}],
        "users": [{"name": user, "user": who}],
        "contexts": [{"name": context, "context": {"cluster": cluster, "user": user}}],
        "current-context": context,
        "preferences": {},
    }
    return yaml.safe_dump(content, sort_keys=False)


def _data(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
