"""A fingerprint of the server's code, by which a client sees that a server must be restarted."""

import hashlib
from functools import cache
from pathlib import Path

import aks_catalogue
import kube_client
import provider_kit

_REHEARSAL = Path(__file__).resolve().parent
# The packages that the server and the offline plug-ins run, wherever they are.
ROOMS = (
    Path(aks_catalogue.__file__).resolve().parent,
    Path(kube_client.__file__).resolve().parent,
    Path(provider_kit.__file__).resolve().parent,
    _REHEARSAL,
)
_KINDS = {".css", ".csv", ".html", ".js", ".py", ".svg", ".toml"}


@cache
def fingerprint() -> str:
    """Returns a hash of the server's code and tables."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted(room.rglob("*")):
            # The engine runs the offline plug-ins, not the server.
            if path.suffix in _KINDS and _REHEARSAL / "offline_plug_ins" not in path.parent.parents:
                digest.update(f"{path.relative_to(room.parent)}\0".encode())
                digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
