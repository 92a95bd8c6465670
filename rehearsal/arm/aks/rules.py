"""Whether a body leaves alone what is fixed at creation, and what its API version has not."""

from collections.abc import Collection

from catalogue import nodes
from catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.aks import fields, filling
from rehearsal.arm.request import Json


def in_version(resource: str, body: Json, api_version: str) -> None:
    """Refuses what only newer versions of the API have."""
    if not fields.is_strict(api_version):
        return
    for path in sorted(fields.hidden(resource, api_version)):
        if at(body, path) is not None:
            raise errors.ArmError(errors.UNKNOWN_FIELD, field=path.rpartition(".")[2])


def in_words_of_today(cluster: Json, api_version: str) -> None:
    """Puts newer words in the place of an older API version's, and refuses those of others."""
    is_older = api_version[:10] < fields.OTHER_WORDS_BEFORE
    for path, older, newer in fields.OTHER_WORDS:
        said = str(at(cluster, path)).lower()
        if said == (newer if is_older else older).lower():
            words = {"said": at(cluster, path), "older": older, "newer": newer}
            name = path.rpartition(".")[2]
            raise errors.ArmError(errors.SKU_OF_OTHER_VERSION, name=name, **words)
        if said == older.lower():
            filling.put(cluster, path, newer)


def unchanged(present: Json, after: Json, names: Collection[str], prefix: str, given: Json) -> None:
    """Refuses a change of what is fixed at creation.

    Of several it names one that the request itself asks for.
    """
    for name in sorted(names, key=lambda name: at(given, name) is None):
        implied = fields.IMPLIED.get(name)
        before, wanted = at(present, name) or implied, at(after, name) or implied
        if not _same(before, wanted) and not _is_let(name, before, wanted, present):
            target = f"{prefix}{name}"
            raise errors.ArmError(errors.IMMUTABLE, target, property=target)


def not_changed_to(present: Json, after: Json) -> None:
    """Refuses changes that AKS makes in the other direction alone, or not at all."""
    for path, *pair in fields.NOT_CHANGED_TO:
        if [str(at(body, path)).lower() for body in (present, after)] == pair:
            raise errors.ArmError(errors.IMMUTABLE, path, property=path)


def _is_let(name: str, before: object, wanted: object, present: Json) -> bool:
    """Returns whether AKS makes the change all the same."""
    tags = {str(tag).lower(): str(value) for tag, value in (present.get("tags") or {}).items()}
    is_skipped = tags.get(nodes.SKIP_DRIVER_TAG.lower(), "").lower() == "true"
    return (name, before, wanted) in fields.LET_CHANGE or (
        # The tag has done it before (Azure/azure-cli#32531).
        name == "gpuProfile.driver" and wanted == "None" and is_skipped
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    if isinstance(one, list) and isinstance(other, list):
        return sorted(map(str, one)) == sorted(map(str, other))
    return one == other
