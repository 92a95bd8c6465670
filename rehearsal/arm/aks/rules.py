"""What AKS refuses in the body of a cluster or of an agent pool."""

import re
from collections.abc import Collection

from catalogue import clusters, nodes
from rehearsal.arm import errors
from rehearsal.arm.aks import fields
from rehearsal.arm.request import Json

LABEL_NAME = re.compile(
    r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?"
)
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?")
LABEL_RULE = "a name (with or without a prefix and '/') and a value of 63 letters, digits, '-_.'"
MOST_NODES = 1000
FEWEST_NODES = {"System": 1, "User": 0}


def cluster_before_defaults(name: str, body: Json, *, is_new: bool) -> None:
    """Refuses a cluster whose PUT leaves out what has no default."""
    properties = body.get("properties") or {}
    if not clusters.NAME.fullmatch(name):
        raise _invalid("resourceName", clusters.NAME_RULE)
    prefix = properties.get("dnsPrefix")
    if isinstance(prefix, str) and prefix and not clusters.DNS_PREFIX.fullmatch(prefix):
        raise _invalid("dnsPrefix", clusters.DNS_PREFIX_RULE)
    if body.get("identity") and not _at(body, "identity.type"):
        raise _missing("identity.type")
    if not is_new:
        return
    if not properties.get("agentPoolProfiles"):
        raise _missing("agentPoolProfiles")
    if not properties.get("dnsPrefix") and not properties.get("fqdnSubdomain"):
        raise _missing("dnsPrefix")
    if not body.get("identity") and not properties.get("servicePrincipalProfile"):
        raise _missing("servicePrincipalProfile")


def pool_before_defaults(name: str, properties: Json, *, is_new: bool) -> None:
    """Refuses a pool whose PUT leaves out what has no default, or holds what is not valid."""
    if not nodes.LINUX_POOL_NAME.fullmatch(name):
        raise _invalid("agentPoolProfile.name", nodes.LINUX_POOL_NAME_RULE)
    if is_new and not properties.get("vmSize"):
        raise _missing("agentPoolProfile.vmSize")
    for choice, values in fields.POOL_CHOICES.items():
        given = _at(properties, choice)
        if given is not None and str(given).lower() not in [value.lower() for value in values]:
            raise _invalid(f"agentPoolProfile.{choice}", f"one of {', '.join(values)}")
    _what_nodes_carry(properties)
    _scaling_limits(properties)


def _what_nodes_carry(properties: Json) -> None:
    for text in properties.get("nodeTaints") or ():
        if not nodes.TAINT.fullmatch(str(text)):
            raise _invalid("agentPoolProfile.nodeTaints", nodes.TAINT_RULE)
    for name, value in (properties.get("nodeLabels") or {}).items():
        if not LABEL_NAME.fullmatch(name) or not LABEL_VALUE.fullmatch(str(value)):
            raise _invalid("agentPoolProfile.nodeLabels", LABEL_RULE)
    surge = _at(properties, "upgradeSettings.maxSurge")
    if surge is not None and not nodes.SURGE.fullmatch(str(surge)):
        raise _invalid("agentPoolProfile.upgradeSettings.maxSurge", "a number, or one with '%'")


def _scaling_limits(properties: Json) -> None:
    limits = {name: properties.get(name) for name in ("minCount", "maxCount")}
    for name, limit in limits.items():
        if properties.get("enableAutoScaling") and limit is None:
            raise _missing(f"agentPoolProfile.{name}")
        if not properties.get("enableAutoScaling") and limit is not None:
            raise _invalid(f"agentPoolProfile.{name}", "set only with enableAutoScaling")


def pool_after_defaults(properties: Json, *, is_new: bool) -> None:
    """Refuses a pool whose properties do not go together."""
    fewest = FEWEST_NODES.get(properties["mode"], 0)
    for name in ("count", "minCount", "maxCount"):
        number = properties.get(name)
        is_count = type(number) is int and fewest <= number <= MOST_NODES
        if number is not None and not is_count:
            raise _invalid(f"agentPoolProfile.{name}", f"{fewest} to {MOST_NODES} nodes")
    if properties["enableAutoScaling"] and properties["minCount"] > properties["maxCount"]:
        raise _invalid("agentPoolProfile.minCount", "not above maxCount")
    if properties["enableAutoScaling"] and is_new:
        _within_limits(properties["count"], properties["minCount"], properties["maxCount"])
    if properties["mode"] == "System" and properties.get("scaleSetPriority") == "Spot":
        raise _invalid("agentPoolProfile.scaleSetPriority", "a System pool is Regular")


def _within_limits(count: int, least: int, most: int) -> None:
    # In AKS's words for the limits of all pools. That it holds new pools to their autoscaler's is
    # not on record; a pool that is there may have fewer nodes.
    if not least <= count <= most:
        raise errors.invalid(
            "agentPoolProfile.count",
            f"agentPoolProfile.count was {count}. It must be greater or equal to "
            f"minCount:{least} and less than or equal to maxCount:{most}.",
        )


def unchanged(present: Json, after: Json, names: Collection[str], prefix: str) -> None:
    """Refuses a change of what is fixed at creation."""
    for name in names:
        implied = fields.IMPLIED.get(name)
        if not _same(_at(present, name) or implied, _at(after, name) or implied):
            target = f"{prefix}{name}"
            raise errors.ArmError(errors.IMMUTABLE, target, property=target)


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    if isinstance(one, list) and isinstance(other, list):
        return sorted(map(str, one)) == sorted(map(str, other))
    return one == other


def _at(properties: Json, dotted: str) -> object:
    value: object = properties
    for name in dotted.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _missing(parameter: str) -> errors.ArmError:
    return errors.ArmError(errors.MISSING_PARAMETER, parameter, parameter=parameter)


def _invalid(parameter: str, reason: str) -> errors.ArmError:
    return errors.invalid(parameter, f"it must be {reason}.")
