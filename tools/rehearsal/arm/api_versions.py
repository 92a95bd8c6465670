"""The API versions of Resource Manager and AKS; versions that never existed are refused."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType

from aks_catalogue import regions
from aks_catalogue.today import today
from rehearsal.arm import errors

# The provider of features has the names of others in its paths.
_PROVIDERS = re.compile("(?<!microsoft.features)/providers/", re.IGNORECASE)
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?")
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RESOURCE_MANAGER, AKS = "Microsoft.Resources", "Microsoft.ContainerService"
# Newest first.
KNOWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        namespace: tuple(sorted(text.split(), reverse=True))
        for namespace, text in _TABLES["versions"].items()
    }
)
# These types have versions of their own, which are in no table.
WITHOUT_TABLE = ("operations", "operationresults")


def refuse_unknown(path: str, version: str, location: str) -> None:
    """Refuses a version that never existed for the type at a path below a subscription."""
    namespace, kinds = _type_at(path)
    known = KNOWN.get(namespace, ())
    if known and kinds[-1:] and kinds[-1].lower() in WITHOUT_TABLE:
        known = ()
    if version in known or (_is_past(version) and version > max(known, default="")):
        return
    supported = known or KNOWN[RESOURCE_MANAGER]
    if namespace != AKS or not _is_past(version, of_any_day=True):
        raise errors.ArmError(
            errors.BAD_API_VERSION, version=version, supported=",".join(supported)
        )
    raise errors.ArmError(
        errors.NO_SUCH_API_VERSION,
        location=location,
        version=version,
        type="/".join(kinds),
        supported=", ".join(sorted(supported)),
        locations=", ".join(regions.regions()),
    )


def _type_at(path: str) -> tuple[str, list[str]]:
    """Returns the namespace and the type of a path, the type split as in `locations/usages`."""
    # A resource can be in the scope of another one.
    inside = _PROVIDERS.split(path)[-1] if _PROVIDERS.search(path) else ""
    namespace, *segments = inside.split("/")
    # Resource Manager serves requests about a provider itself.
    if "/" not in inside or segments[0].lower() in ("register", "unregister"):
        return RESOURCE_MANAGER, []
    known = next((name for name in KNOWN if name.lower() == namespace.lower()), namespace)
    return known, segments[::2]


def _is_past(version: str, *, of_any_day: bool = False) -> bool:
    """Returns whether a version is a date that is not in the future."""
    if not _FORM.fullmatch(version):
        return False
    try:
        day = date.fromisoformat(version.removesuffix("-preview"))
    except ValueError:
        return False
    return of_any_day or day <= max(_TABLES["as_of"], today())
