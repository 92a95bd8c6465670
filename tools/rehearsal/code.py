"""A fingerprint of the server's code, by which a client sees that a server must be restarted."""

import hashlib
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
# The packages that the server runs. The engine runs the offline plug-ins, not the server.
_ROOMS = ("catalogue", "kube", "provider_kit", "rehearsal")
_PLUG_INS = _ROOT / "rehearsal" / "offline_plug_ins"
_KINDS = {".csv", ".py", ".toml"}


@cache
def fingerprint() -> str:
    """Returns a hash of the server's code and tables."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((_ROOT / room).rglob("*")):
            if path.suffix in _KINDS and _PLUG_INS not in path.parent.parents:
                digest.update(f"{path.relative_to(_ROOT)}\0".encode())
                digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
