"""The one service principal of a rehearsal cloud, and the subscription it owns."""

import secrets
import uuid
from dataclasses import asdict, dataclass, field

from rehearsal.arm.home import Home, read_json, write_json

# Clients take the tenant name `adfs` for a directory that is not Microsoft's, and so ask this
# server, not login.microsoftonline.com, who issues its tokens.
TENANT = "adfs"


@dataclass(frozen=True)
class Principal:
    tenant: str
    directory: str
    subscription: str
    client_id: str
    object_id: str
    client_secret: str = field(repr=False)


def load(home: Home) -> Principal:
    """The principal of this home, made at the first start."""
    stored = read_json(home.principal)
    if stored is not None:
        return Principal(**stored)
    principal = Principal(
        tenant=TENANT,
        directory=str(uuid.uuid4()),
        subscription=str(uuid.uuid4()),
        client_id=str(uuid.uuid4()),
        object_id=str(uuid.uuid4()),
        client_secret=secrets.token_urlsafe(32),
    )
    write_json(home.principal, asdict(principal), 0o600)
    return principal
