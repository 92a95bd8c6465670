"""The state of the rehearsal cloud, in one SQLite file that survives a restart."""

import json
import sqlite3
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_catalogue import aks_types
from rehearsal.arm.home import DamagedError

# What decides how resources are stored; this code only reads what was stored by the same.
_TABLES = (
    Path(aks_types.__file__).with_suffix(".csv"),
    Path(__file__).parent / "aks" / "filled_in.toml",
)
# `key` is the resource id in lower case: Resource Manager ignores the case of ids, and returns them
# in the case of their creation. `operation` is the operation in progress on the resource, if any.
SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    parent TEXT NOT NULL,
    location TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    operation TEXT,
    etag TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS resources_parent ON resources (parent, type);
CREATE INDEX IF NOT EXISTS resources_operation ON resources (operation);
CREATE TABLE IF NOT EXISTS operations (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL, -- the name of a kind of operation
    started REAL NOT NULL,
    due REAL NOT NULL,
    ended REAL,
    status TEXT NOT NULL,
    error TEXT
);
CREATE INDEX IF NOT EXISTS operations_status ON operations (status, due);
CREATE TABLE IF NOT EXISTS registrations (
    key TEXT PRIMARY KEY,
    registered INTEGER NOT NULL,
    asked REAL NOT NULL,
    due REAL NOT NULL
);
"""


@dataclass
class Resource:
    """One resource; `body` has what clients sent and what the server filled in."""

    id: str
    type: str
    parent: str
    location: str
    body: dict[str, Any]
    state: str
    operation: str | None = None
    etag: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def name(self) -> str:
        return self.id.rpartition("/")[2]

    @property
    def properties(self) -> dict[str, Any]:
        properties: dict[str, Any] = self.body["properties"]
        return properties

    def with_body(self, body: dict[str, Any]) -> "Resource":
        others = (self.state, self.operation, self.etag)
        return Resource(self.id, self.type, self.parent, self.location, body, *others)


@dataclass(frozen=True)
class Registration:
    """The last time a feature or a provider was registered or unregistered."""

    registered: bool
    asked: float
    due: float


class Store:
    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.row_factory = sqlite3.Row
        self._database.execute("PRAGMA journal_mode = WAL")
        # A response is sent only after its state is on the disk.
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.executescript(SCHEMA)

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            # On a full disk, the commit fails.
            self._database.execute("COMMIT")
        except BaseException:
            # Some errors have already rolled it back.
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def rows(self, statement: str, *values: object) -> list[sqlite3.Row]:
        return self._database.execute(statement, values).fetchall()

    def find(self, resource_id: str) -> Resource | None:
        return next(iter(self._resources("key = ?", resource_id.lower())), None)

    def children(self, parent: str, kind: str) -> list[Resource]:
        """Returns the direct children of a resource, oldest first."""
        return self._resources("parent = ? AND type = ?", parent.lower(), kind)

    def of_type(self, kind: str) -> list[Resource]:
        return self._resources("type = ?", kind)

    def worked_on_by(self, operation: str) -> list[Resource]:
        return self._resources("operation = ?", operation)

    def within(self, resource_id: str) -> list[Resource]:
        """Returns a resource and everything below it."""
        key = resource_id.lower()
        return self._resources("key = ? OR substr(key, 1, ?) = ?", key, len(key) + 1, key + "/")

    def _resources(self, condition: str, *values: object) -> list[Resource]:
        statement = f"SELECT * FROM resources WHERE {condition} ORDER BY sequence"  # noqa: S608 (ours)
        return [_Stored(row) for row in self.rows(statement, *values)]

    def write(self, resource: Resource) -> None:
        """Stores a change by a request or by the end of an operation, with a new etag."""
        resource.etag = str(uuid.uuid4())
        self.keep(resource)

    def keep(self, resource: Resource) -> None:
        """Stores a change by the server; the etag stays."""
        keys = {"key": resource.id.lower(), "parent": resource.parent.lower()}
        self._database.execute(
            "INSERT INTO resources (key, id, type, parent, location, body, state, operation, etag)"
            " VALUES (:key, :id, :type, :parent, :location, :body, :state, :operation, :etag)"
            " ON CONFLICT (key) DO UPDATE SET body = excluded.body, state = excluded.state,"
            " operation = excluded.operation, etag = excluded.etag",
            {**vars(resource), "body": json.dumps(resource.body), **keys},
        )

    def remove(self, resource: Resource) -> None:
        self._database.execute("DELETE FROM resources WHERE key = ?", (resource.id.lower(),))

    def registration(self, key: str) -> Registration | None:
        rows = self.rows("SELECT * FROM registrations WHERE key = ?", key.lower())
        if not rows:
            return None
        row = rows[0]
        return Registration(bool(row["registered"]), row["asked"], row["due"])

    def register(self, key: str, registration: Registration) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?, ?)",
            (key.lower(), registration.registered, registration.asked, registration.due),
        )


class _Stored(Resource):
    """A resource whose body is parsed when it is read: of a list, a request needs few."""

    def __init__(self, row: sqlite3.Row) -> None:
        self._text = row["body"]
        columns = ("id", "type", "parent", "location", "state", "operation", "etag")
        vars(self).update({name: row[name] for name in columns})

    def __getattr__(self, name: str) -> Any:
        if name != "body":
            raise AttributeError(name)
        self.body = json.loads(self._text)
        return self.body


def open_store(path: Path) -> Store:
    """Opens the stored state. Raises DamagedError if it is damaged, or of other code."""
    is_new = not path.exists()
    try:
        store = Store(path)
        if is_new:
            store.rows(f"PRAGMA user_version = {_stamp()}")
        [[found]] = store.rows("PRAGMA quick_check")[:1]
        [[stamp]] = store.rows("PRAGMA user_version")
    except sqlite3.OperationalError:
        raise  # Not damage: a folder in its place, or a full disk.
    except sqlite3.DatabaseError as error:
        raise DamagedError(f"{path.name} is damaged: {error}") from error
    if found != "ok":
        raise DamagedError(f"{path.name} is damaged: {found}")
    if stamp != _stamp():
        raise DamagedError(f"{path.name} was written by another version of aks-gpu")
    return store


def _stamp() -> int:
    """Returns a number for the form in which this code stores resources, as SQLite keeps one."""
    parts = (SCHEMA.encode(), *(table.read_bytes() for table in _TABLES))
    return zlib.crc32(b"".join(parts)) >> 1
