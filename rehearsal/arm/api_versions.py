"""The API versions of Resource Manager and AKS; versions that never existed are refused."""

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from catalogue import regions
from catalogue.today import today
from rehearsal.arm import errors

# The provider of features has the names of others in its paths.
_PROVIDERS = re.compile("(?<!microsoft.features)/providers/", re.IGNORECASE)
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?")
# The day of the tables. Newer versions than their last entry are accepted, up to this day or today.
AS_OF = date(2026, 11, 22)

# Of Resource Manager: the versions in its error messages, and newer ones that clients use.
OWN = """
    2014-04-01-preview 2014-04-01 2014-01-01 2013-03-01 2015-01-01 2015-11-01 2016-02-01 2016-06-01
    2016-07-01 2016-09-01 2017-03-01 2017-05-01 2017-05-10 2017-06-01 2017-08-01 2017-12-01
    2018-01-01 2018-02-01 2018-05-01 2018-06-01 2018-07-01 2018-08-01 2018-09-01 2018-11-01
    2019-03-01 2019-05-01 2019-05-10 2019-06-01 2019-07-01 2019-08-01 2019-09-01 2019-10-01
    2019-11-01 2020-01-01 2020-05-01 2020-06-01 2020-07-01 2020-08-01 2020-09-01 2020-10-01
    2021-01-01 2021-04-01 2022-01-01 2022-03-01-preview 2022-05-01 2022-06-01 2022-09-01
    2022-11-01-preview 2022-12-01 2023-03-01-preview 2023-07-01-preview 2023-07-01 2024-03-01
    2024-06-01-preview 2024-07-01 2024-08-01 2024-11-01 2025-03-01 2025-04-01
"""
# Of AKS: the versions of azure-native, of AKS's error messages and of the SDKs.
OF_AKS = """
    2017-08-31 2018-03-31 2018-08-01-preview 2019-02-01 2019-04-01 2019-06-01 2019-08-01 2019-10-01
    2019-11-01 2020-01-01 2020-02-01 2020-03-01 2020-04-01 2020-06-01 2020-07-01 2020-09-01
    2020-11-01 2020-12-01 2021-02-01 2021-03-01 2021-05-01 2021-07-01 2021-08-01 2021-09-01
    2021-10-01 2021-11-01-preview 2022-01-01 2022-01-02-preview 2022-02-01 2022-02-02-preview
    2022-03-01 2022-03-02-preview 2022-04-01 2022-04-02-preview 2022-05-02-preview 2022-06-01
    2022-06-02-preview 2022-07-01 2022-07-02-preview 2022-08-01 2022-08-02-preview
    2022-08-03-preview 2022-09-01 2022-09-02-preview 2022-10-02-preview 2022-11-01
    2022-11-02-preview 2022-12-02-preview 2023-01-01 2023-01-02-preview 2023-02-01
    2023-02-02-preview 2023-03-01 2023-03-02-preview 2023-04-01 2023-04-02-preview 2023-05-01
    2023-05-02-preview 2023-06-01 2023-06-02-preview 2023-07-01 2023-07-02-preview 2023-08-01
    2023-08-02-preview 2023-09-01 2023-09-02-preview 2023-10-01 2023-10-02-preview 2023-11-01
    2023-11-02-preview 2024-01-01 2024-01-02-preview 2024-02-01 2024-02-02-preview
    2024-03-02-preview 2024-04-02-preview 2024-05-01 2024-05-02-preview 2024-06-02-preview
    2024-07-01 2024-07-02-preview 2024-08-01 2024-09-01 2024-09-02-preview 2024-10-01
    2024-10-02-preview 2025-01-01 2025-01-02-preview 2025-02-01 2025-02-02-preview 2025-03-01
    2025-03-02-preview 2025-04-01 2025-04-02-preview 2025-05-01 2025-05-02-preview
    2025-06-02-preview 2025-07-01 2025-07-02-preview 2025-08-01 2025-08-02-preview 2025-09-01
    2025-09-02-preview 2025-10-01 2025-10-02-preview 2026-01-01 2026-01-02-preview 2026-02-01
    2026-02-02-preview 2026-03-01 2026-03-02-preview 2026-04-01 2026-04-02-preview 2026-05-01
    2026-05-02-preview 2026-06-01 2026-07-01 2026-08-01
"""
RESOURCE_MANAGER, AKS = "Microsoft.Resources", "Microsoft.ContainerService"
# Newest first. For other namespaces any past date is accepted.
KNOWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        namespace: tuple(sorted(text.split(), reverse=True))
        for namespace, text in ((RESOURCE_MANAGER, OWN), (AKS, OF_AKS))
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
    return of_any_day or day <= max(AS_OF, today())
