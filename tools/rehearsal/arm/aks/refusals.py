"""What AKS refuses: the rows of refusals.toml, and how they judge a PUT."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_catalogue import nodes
from aks_catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.aks import fields
from rehearsal.arm.aks.filling import meets
from rehearsal.arm.request import Json
from rehearsal.arm.resources import tags

_TABLE = Path(__file__).with_name("refusals.toml")
# The values to fill into the message of a refusal.
Words = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A PUT of a pool, by its properties, or of a cluster, by its whole body."""

    name: str
    # The request as it was sent.
    sent: Json
    # What is judged: the request, or the resource with what AKS keeps and fills in.
    values: Json
    before: Json | None = None
    # The properties of a pool's cluster.
    cluster: Json
    group: str
    location: str
    api_version: str
    today: date
    # The subscription of a cluster.
    subscription: str = ""
    # Existing names in lower case: of the pools of a pool's cluster, or of the resource groups of a
    # cluster's subscription, with those of nodes.
    others: Collection[str] = ()

    @property
    def is_preview(self) -> bool:
        return self.api_version.endswith("-preview")

    def at(self, path: str) -> Any:
        return at(self.values, path)

    def changes(self, path: str) -> bool:
        """Returns whether the value at a path differs from the present one."""
        return self.before is None or at(self.before, path) != self.at(path)

    @cached_property
    def _context(self) -> Json:
        beside = {"before": self.before or {}, "cluster": self.cluster, "named": self.name}
        return {**self.values, **beside, "sent": self.sent}

    def meets(self, path: str, expected: object) -> bool:
        return meets(at(self._context, path), expected)


# Returns the values for the message, or whether there is a refusal whose message has none.
Check = Callable[..., Words | bool | None]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One refusal of AKS: its row, with its function."""

    name: str
    # Where AKS's refusal is recorded or documented, and which parts of it are not.
    source: str
    error: errors.Refusal
    target: str | None = None
    when: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    # The function, with the path that it judges, if any.
    check: Check | None = None
    at: str = ""
    # It is not applied to existing resources.
    only_new: bool = False
    since: date | None = None

    def refuses(self, case: Case) -> Words | None:
        """Returns the values for the message, or None if the rule is kept."""
        if self.only_new and case.before is not None:
            return None
        if self.since is not None and case.today < self.since:
            return None
        if not all(case.meets(path, expected) for path, expected in self.when.items()):
            return None
        if self.check is None:
            return {}
        found = self.check(case, self.at) if self.at else self.check(case)
        return {} if found is True else found or None


def judged(resource: str, case: Case, fill: Callable[[], Json]) -> Json:
    """Returns what a PUT makes of a `pool` or a `cluster`; judges it as sent and as filled in."""
    # Resource Manager judges them, before AKS.
    tags.admit(case.sent.get("tags"))
    judge(rules(f"{resource}_request"), case)
    filled = fill()
    judge(rules(f"{resource}_result"), replace(case, values=filled))
    return filled


def judge(rules: Iterable[Rule], case: Case) -> None:
    """Refuses a PUT for the first rule that it breaks."""
    for rule in rules:
        words = rule.refuses(case)
        if words is not None:
            target = rule.target and rule.target.format_map(words)
            raise errors.ArmError(rule.error, target, **words)


def unchanged(resource: str, present: Json, after: Json, given: Json, prefix: str = "") -> None:
    """Refuses changes of properties that are fixed at creation.

    Of several changes it names one that the request has sent.
    """
    names = fields.names(fields.TABLES[resource], fields.FIXED)
    for name in sorted(names, key=lambda name: at(given, name) is None):
        implied = fields.IMPLIED.get(name)
        before, requested = at(present, name) or implied, at(after, name) or implied
        if not _same(before, requested) and not _is_allowed_change(name, requested, present):
            target = f"{prefix}{name}"
            raise errors.ArmError(errors.IMMUTABLE, target, property=target)


def not_changed_to(present: Json, after: Json) -> None:
    """Refuses changes that AKS allows only in the other direction, or not at all."""
    for path, *pair in fields.NOT_CHANGED:
        if [str(at(body, path)).lower() for body in (present, after)] == pair:
            raise errors.ArmError(errors.IMMUTABLE, path, property=path)


def _is_allowed_change(name: str, requested: object, present: Json) -> bool:
    """Returns whether AKS allows this change of a fixed property."""
    tags = {str(tag).lower(): str(value) for tag, value in (present.get("tags") or {}).items()}
    is_skipped = tags.get(nodes.SKIP_DRIVER_TAG.lower(), "").lower() == "true"
    # The tag has skipped the driver before (Azure/azure-cli#32531).
    return name == "gpuProfile.driver" and requested == "None" and is_skipped


def _same(value: object, other: object) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return value.lower() == other.lower()
    if isinstance(value, list) and isinstance(other, list):
        return sorted(map(str, value)) == sorted(map(str, other))
    return value == other


@cache
def rules(table: str) -> tuple[Rule, ...]:
    """Returns the rules of a table in the order in which AKS judges."""
    content = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    resource = table.partition("_")[0]
    checks = import_module(f"rehearsal.arm.aks.{resource}_checks")
    found = list[Rule]()
    for row in content[table]:
        if "choices" in row:
            others = [each for each in content[table] if "name" in each]
            found += _enumerations(resource, others, content["sources"]["spec_and_words"])
        else:
            found.append(_rule(row, checks, content["sources"]))
    return tuple(found)


def _rule(row: dict[str, Any], checks: Any, sources: Mapping[str, str]) -> Rule:
    same = ("name", "target", "when", "at", "only_new", "since")
    check = getattr(checks, row["check"]) if "check" in row else None
    if "between" in row:
        lowest, highest = row["between"]
        check = _outside(lowest, highest, row.get("unless"))
    return Rule(
        **{name: row[name] for name in same if name in row},
        source=row["source"].format_map(sources),
        check=check,
        error=_error(row),
    )


def _error(row: dict[str, Any]) -> errors.Refusal:
    if "required" in row:
        return errors.MISSING_PARAMETER.of(parameter=row["target"])
    if "invalid" in row:
        return errors.INVALID_PARAMETER.of(parameter=row["target"], reason=row["invalid"])
    return errors.refusal(row["says"], row.get("subcode", ""), is_flat="arm" not in row)


def _outside(lowest: float, highest: float, unless: object) -> Check:
    """Returns a check of a number's range."""

    def check(case: Case, path: str) -> Words | None:
        value = case.at(path)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value in (None, unless) or (is_number and lowest <= value <= highest):
            return None
        return {"value": value, "lowest": lowest, "highest": highest}

    return check


def _enumerations(resource: str, others: Collection[Json], source: str) -> Iterator[Rule]:
    """Yields the rules for enumerations that no other row judges. Values may be in any case.

    The message is the one of AKS for `localDNSProfile.mode`.
    """
    taken, judged = ({row.get(key) for row in others} for key in ("name", "at"))
    for path, choices in fields.CHOICES[resource].items():
        if path in judged:
            continue
        *most, last = choices
        only = f"{', '.join(most)} and {last}" if most else last
        shown = path.removeprefix("properties.")
        bare = shown.replace("[]", "").replace(".*", "")
        parameter = f"agentPoolProfile.{bare}" if resource == "pool" else bare
        reason = f"value {{value}} is not allowed. Only {only} are allowed."
        error = errors.INVALID_PARAMETER.of(parameter=parameter, reason=reason)
        name = f"{'agentPool' if resource == 'pool' else resource}-{bare}".replace(".", "-")
        yield Rule(
            name=f"{name}-known" if name in taken else name,
            source=source,
            check=_none_of(choices),
            at=path,
            error=replace(error, code=fields.CODES.get(path, error.code)),
            target=parameter,
        )


def _none_of(choices: Iterable[str]) -> Check:
    """Returns a check of an enumeration. An empty text counts as absent: `az` sends it."""
    known = {choice.lower() for choice in choices}

    def check(case: Case, path: str) -> Words | None:
        values = (value for value in _every(case.values, path) if value not in (None, ""))
        return next(({"value": value} for value in values if str(value).lower() not in known), None)

    return check


def _every(values: object, path: str) -> Iterator[Any]:
    """Yields the values at a dotted path; `[]` stands for each item, `*` for each name."""
    name, _, rest = path.partition(".")
    if name == "*":
        for member in values.values() if isinstance(values, dict) else ():
            yield from _every(member, rest) if rest else (member,)
        return
    member = values.get(name.removesuffix("[]")) if isinstance(values, dict) else None
    for item in member or () if name.endswith("[]") else (member,):
        if rest:
            yield from _every(item, rest)
        else:
            yield item


_RESOURCE_ID = re.compile(r"/(subscriptions|providers)/[^/]+/.+", re.IGNORECASE)


def not_an_id(text: object, path: str) -> Words | None:
    """Returns the words for what is no resource id; None if it is one, or absent."""
    if not text or _RESOURCE_ID.fullmatch(str(text)):
        return None
    return {"id": text, "path": path}


MOST_POOLS = 100
