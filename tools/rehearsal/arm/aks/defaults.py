"""Turns a PUT into the resulting resource: what AKS keeps, drops, respells and fills in."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from aks_catalogue import clusters, kubernetes, sizes
from aks_catalogue.shapes import at
from rehearsal.arm.aks import fields, filling
from rehearsal.arm.aks.fields import FIXED, KEPT, SERVERS, Change
from rehearsal.arm.offers import known_sizes
from rehearsal.arm.request import Json

SKU = {"name": "Base", "tier": "Free"}

SERVER_MADE = ("azurePortalFQDN", "fqdn", "identityProfile", "privateFQDN", "resourceUID")

# Properties that AKS has twice, as one value and as a list: the list follows a new value.
LISTS = {"podCidr": "podCidrs", "serviceCidr": "serviceCidrs"}

# Secrets: clients send them, and no response has them.
WRITE_ONLY = (
    "windowsProfile.adminPassword",
    "aadProfile.serverAppSecret",
    "servicePrincipalProfile.secret",
)


def pool(requested: Json, present: Json | None, cluster: Json) -> Json:
    """Returns the properties of an agent pool after a PUT."""
    sent = _sent_values(requested, fields.INLINE_POOL)
    if sent.get("osDiskSizeGB") == 0:
        del sent["osDiskSizeGB"]  # documented: zero stands for the default
    merged = _merged("pool", sent, present)
    spell("pool", merged)
    filling.drop("not_kept", merged, {})
    release = cluster.get("currentKubernetesVersion") or cluster["kubernetesVersion"]
    context = {
        "cluster": cluster,
        "size": _size(merged),
        "version": _version(release) | {"isNew": present is None},
    }
    filled = filling.fill("pool", merged, context)
    for row in filling.applicable("marked", filled, {}):
        if row.label:
            name, _, value = row.label.partition("=")
            filled["nodeLabels"] = (filled.get("nodeLabels") or {}) | {name: value}
        taints = [taint for taint in filled.get("nodeTaints") or () if taint != row.taint]
        filled["nodeTaints"] = [*taints, row.taint]
    filled["currentOrchestratorVersion"] = _release(
        filled["orchestratorVersion"],
        (present or {}).get("currentOrchestratorVersion"),
        cluster.get("currentKubernetesVersion"),
    )
    return filled


def cluster(
    requested: Json,
    present: Json | None,
    place: tuple[str, str, str],
    first_pool: Json,
) -> Json:
    """Returns the properties of a cluster after a PUT; it has a name, a group and a location."""
    name, group, location = place
    sent = _sent_values(requested, fields.CLUSTER)
    if "networkProfile" in sent:
        network = _sent_values(sent["networkProfile"], {})
        sent["networkProfile"] = {name: value for name, value in network.items() if value != []}
    merged = _merged("cluster", sent, present)
    network = merged.get("networkProfile") or {}
    for single, listed in LISTS.items():
        sent_network = sent.get("networkProfile") or {}
        if single in sent_network and listed not in sent_network:
            network.pop(listed, None)
        elif listed in sent_network and single not in sent_network and sent_network[listed]:
            network[single] = sent_network[listed][0]
    spell("cluster", merged)
    filling.drop("not_kept_of_cluster", merged, {"sent": sent})
    release = merged.get("kubernetesVersion") or kubernetes.DEFAULT
    spell("cluster", sent)
    context = {
        "sent": sent,
        "first": first_pool,
        "version": _version(release) | {"isNew": present is None},
    }
    filled = filling.fill("cluster", merged, context)
    filled.setdefault("nodeResourceGroup", clusters.node_group(group, name, location))
    filled["currentKubernetesVersion"] = _release(
        filled["kubernetesVersion"], (present or {}).get("currentKubernetesVersion")
    )
    for path in WRITE_ONLY:
        filling.remove_value(filled, path)
    if present is None:
        filled |= _set_at_creation(filled, location)
    else:
        filled |= {name: present[name] for name in SERVER_MADE if name in present}
    return filled


def node_image(pool: Json, *, is_specialized: bool) -> Json:
    """Returns the properties of a pool with its node image."""
    name = str(pool.get("vmSize", ""))
    size = known_sizes().get(name.lower())
    is_second = size is None or not size.generations or "Gen2" in size.generations
    context = {
        "pool": pool,
        "size": {
            "architecture": sizes.architecture(name),
            "generation": "Gen2" if is_second else "Gen1",
        },
        "specialized": is_specialized,
        "version": {"kubernetes": pool["currentOrchestratorVersion"]},
    }
    parts = filling.fill("node_image", {}, context)
    return pool | {"nodeImageVersion": parts["name"].format(**parts)}


def _sent_values(requested: Json, table: Mapping[str, Change]) -> Json:
    """Returns the values of a request without nulls and empty texts.

    `az` sends empty texts for a version or a size that its user left out.
    """
    servers = set(fields.names(table, SERVERS))
    values = {name: _without_nulls(value) for name, value in requested.items()}
    return {
        name: value
        for name, value in values.items()
        if name not in servers and value is not None and value != ""
    }


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        members = {name: _without_nulls(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not None}
    return value


def _merged(resource: str, sent: Json, present: Json | None) -> Json:
    """Returns the values of a PUT, and the present ones that it leaves out."""
    before, table = present or {}, fields.TABLES[resource]
    kept = fields.names(table, KEPT, FIXED)
    # Properties outside the tables stay too: preview versions have them.
    merged = {name: old for name, old in before.items() if name in kept or name not in table}
    merged |= sent
    inside = [path for path in kept if "." in path]
    for path in sorted([*fields.KEPT_INSIDE[resource], *inside], key=len):
        merged = _with_kept(merged, before, path.split("."))
    return {
        name: value
        for name, value in merged.items()
        if name not in fields.EMPTIED or value not in ({}, [])
    }


def _with_kept(sent: Any, old: Any, path: Sequence[str]) -> Any:
    """Returns a PUT's value with what it leaves out at a path; list items match by position."""
    name, *rest = path
    match sent, old:
        case list(), list() if len(sent) == len(old):
            return [_with_kept(new, before, path) for new, before in zip(sent, old, strict=True)]
        case dict(), dict() if not rest:
            return {key: old[key] for key in (old if name == "*" else [name]) if key in old} | sent
        case dict(), dict() if name in sent:
            return sent | {name: _with_kept(sent[name], old.get(name), rest)}
    return sent


def spell(resource: str, body: Json) -> None:
    """Rewrites enumeration values in AKS's case; requests may use any case."""
    for whole_path, values in fields.CHOICES[resource].items():
        path = whole_path.removeprefix("properties.")
        value = at(body, path)
        for spelling in values:
            if isinstance(value, str) and spelling.lower() == value.lower():
                filling.set_value(body, path, spelling)


def _size(pool: Json) -> Json:
    """Returns the facts of a pool's size that defaults depend on."""
    name = str(pool.get("vmSize", ""))
    size = known_sizes().get(name.lower())
    managed = sizes.managed_disk_gib(size.vcpus if size else 1)
    local, requested = (size.local_disk_gib if size else None), pool.get("osDiskSizeGB")
    fits = local is not None and (local >= (requested or sizes.LEAST_DEFAULT_EPHEMERAL_GIB))
    return {
        # All NVIDIA sizes have this prefix.
        "nvidia": name.lower().startswith("standard_n"),
        "osDiskType": "Ephemeral" if fits else "Managed",
        "osDiskSizeGB": {"Ephemeral": local or managed, "Managed": managed},
    }


def _version(release: str) -> Json:
    return {"kubernetes": release, "default": kubernetes.DEFAULT}


def _release(requested: str, *current: str | None) -> str:
    """Returns the patch release after a PUT. A minor version keeps the present patch release.

    A pool that moves to the minor version of its control plane gets the control plane's release.
    """
    for release in current:
        if release and release.startswith(f"{requested}."):
            return release
    return kubernetes.full_version(requested)


def _set_at_creation(properties: Json, location: str) -> Json:
    uid = uuid.uuid4().hex[:24]
    prefix = properties.get("dnsPrefix") or properties["fqdnSubdomain"]
    host = f"{prefix}-{uid[:8]}"
    values = {
        "fqdn": f"{host}.hcp.{location}.azmk8s.io",
        "azurePortalFQDN": f"{host}.portal.hcp.{location}.azmk8s.io",
        "resourceUID": uid,
    }
    if at(properties, "apiServerAccessProfile.enablePrivateCluster"):
        zone = f"{uuid.uuid4()}.privatelink.{location}.azmk8s.io"
        values["privateFQDN"] = f"{host}.{zone}"
    return values
