"""Where one rehearsal cloud keeps what it owns: its files, its principal and its era."""

import secrets
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from rehearsal.control_planes.desired_state import Era
from rehearsal.files import complain, read_record, write_json, write_whole

# The path at which a server identifies itself: a process number alone proves nothing.
PRESENCE = "/rehearsal"
# Where it says what it has.
OVERVIEW = "/rehearsal/overview"
# With the tenant name `adfs`, clients discover the token issuer at this server and not at
# login.microsoftonline.com.
TENANT = "adfs"


class Home:
    """The files of one state folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ca_certificate = path / "ca.pem"
        self.ca_key = path / "ca-key.pem"
        self.ca_bundle = path / "ca-bundle.pem"
        self.server_certificate = path / "server.pem"
        self.server_key = path / "server-key.pem"
        self.token_key = path / "token-key.pem"
        self.principal = path / "principal.json"
        self.database = path / "arm.sqlite"
        self.request_log = path / "requests.jsonl"
        self.faults = path / "faults.json"
        self.offers = path / "offers.json"
        self.era = path / "era"
        self.kubernetes = path / "kubernetes"
        self.server_log = path / "server.log"
        self.server = path / "server.json"
        self.server_lock = path / "server.lock"

    def make(self) -> None:
        """Makes the folder; what is in it is nobody else's business."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)


class ServerRecord(BaseModel):
    """What a server says of itself once it serves."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    pid: int
    port: int
    url: str
    started: str
    instance: str
    era: Era = Era.TODAY
    time_scale: float = 1.0
    # Of servers before there was this, nobody knows.
    code: str = ""
    kubernetes: str | None = None

    def write(self, home: Home) -> None:
        write_json(home.server, self.model_dump(by_alias=True, mode="json"))


@dataclass(frozen=True)
class Principal:
    """The one service principal of a rehearsal cloud, and the subscription it owns."""

    tenant: str
    directory: str
    subscription: str
    client_id: str
    object_id: str
    client_secret: str = field(repr=False)


def load_principal(home: Home, subscription: str | None = None) -> Principal:
    """Returns the principal of this home, made at the first start.

    `subscription` is that of what the home has already, if it has anything.
    """
    stored = read_record(home.principal, Principal)
    if stored is not None:
        return stored
    if home.principal.exists():
        complain(f"{home.principal.name} is damaged, and is made anew: clients sign in once more.")
    principal = Principal(
        tenant=TENANT,
        directory=str(uuid.uuid4()),
        subscription=subscription or str(uuid.uuid4()),
        client_id=str(uuid.uuid4()),
        object_id=str(uuid.uuid4()),
        # No sign of an option at its beginning: `az login --password` takes the next word as it is.
        client_secret=secrets.token_hex(32),
    )
    write_json(home.principal, asdict(principal), 0o600)
    return principal


class OtherEraError(Exception):
    """A home holds the content of another era."""


def settle_era(home: Home, requested: Era | None) -> Era:
    """Returns the era of a home: chosen at the first start, and kept from then on."""
    said = home.era.read_text(errors="replace").strip() if home.era.exists() else ""
    kept = Era(said) if said in list(Era) else None
    era = requested or kept or Era.TODAY
    if kept is not None and kept is not era:
        raise OtherEraError(
            f"{home.path} is a rehearsal of the era `{kept}`, and cannot go on as `{era}`. Take it "
            "away first, or use another folder."
        )
    write_whole(home.era, f"{era}\n".encode())
    return era
