"""A home: the folder of one rehearsal cloud, with its files, its service principal and its era."""

import secrets
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from rehearsal.control_planes.desired_state import Era
from rehearsal.files import read_record, write_json, write_whole

# The path at which a server identifies itself: a pid by itself proves nothing.
PRESENCE = "/rehearsal"
# The path of the overview that `aksgpu status` shows.
OVERVIEW = "/rehearsal/overview"
# With the tenant name `adfs`, clients discover the token issuer at this server and not at
# login.microsoftonline.com.
TENANT = "adfs"


class Home:
    """The files of one rehearsal cloud."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ca_certificate = path / "ca.pem"
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
        self.page_token = path / "page-token"
        self.server_lock = path / "server.lock"
        self.plug_ins = path / "plug-ins.socket"
        self.plug_ins_log = path / "plug-ins.log"

    def make(self) -> None:
        """Creates the folder, readable by its owner only."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        # It lies in the folder of a program, and has keys.
        (self.path / ".gitignore").write_text("*\n", encoding="utf-8")


class ServerRecord(BaseModel):
    """What a running server writes about itself to server.json."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    pid: int
    port: int
    url: str
    started: str
    instance: str
    era: Era = Era.TODAY
    time_scale: float = 1.0
    # The fingerprint of the server's code.
    code: str = ""
    kubernetes: str | None = None
    # The port of the dashboard; a server of an older version has none.
    page_port: int | None = None

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


# The exit code of a server with a DamagedError, whose text ends its log.
DAMAGED = 3


class DamagedError(Exception):
    """A file of a home cannot be used. Nothing repairs it: the rehearsal begins again."""


def load_principal(home: Home) -> Principal:
    """Returns the service principal of this home; creates it at the first start."""
    if home.principal.exists():
        stored = read_record(home.principal, Principal)
        if stored is None:
            raise DamagedError(f"{home.principal.name} is damaged")
        return stored
    principal = Principal(
        tenant=TENANT,
        directory=str(uuid.uuid4()),
        subscription=str(uuid.uuid4()),
        client_id=str(uuid.uuid4()),
        object_id=str(uuid.uuid4()),
        # Hex does not begin with a dash, which `az login --password` would take for an option.
        client_secret=secrets.token_hex(32),
    )
    write_json(home.principal, asdict(principal), 0o600)
    return principal


class OtherEraError(Exception):
    """A home belongs to another era."""


def settle_era(home: Home, requested: Era | None) -> Era:
    """Returns the era of a home: chosen at the first start, and fixed from then on."""
    stored = home.era.read_text(errors="replace").strip() if home.era.exists() else ""
    present = Era(stored) if stored in list(Era) else None
    era = requested or present or Era.TODAY
    if present is not None and present is not era:
        raise OtherEraError(
            f"{home.path} is a rehearsal of the era `{present}` and cannot become `{era}`. Remove "
            "it with `make rehearse-down` first, or use another folder."
        )
    write_whole(home.era, f"{era}\n".encode())
    return era
