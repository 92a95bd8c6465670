"""What AKS fills in for what a request leaves out, and what it keeps from before."""

import uuid
from collections.abc import Iterable

from catalogue import clusters, kubernetes, nodes
from rehearsal.arm.aks import fields
from rehearsal.arm.aks.fields import FIXED, KEPT, SERVERS
from rehearsal.arm.request import Json

POOL: Json = {
    "count": 1,
    "enableAutoScaling": False,
    "enableEncryptionAtHost": False,
    "enableFIPS": False,
    "enableNodePublicIP": False,
    "enableUltraSSD": False,
    "kubeletDiskType": "OS",
    "mode": "User",
    "osDiskSizeGB": 128,
    "osDiskType": "Managed",
    "osSKU": "Ubuntu",
    "osType": "Linux",
    "powerState": {"code": "Running"},
    "scaleDownMode": "Delete",
    "type": "VirtualMachineScaleSets",
    "upgradeSettings": {"maxSurge": nodes.DEFAULT_SURGE},
}
NVIDIA_POOL: Json = {"gpuProfile": {"driver": "Install"}}
SPOT_POOL: Json = {"scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
NODE_IMAGES = {
    "Ubuntu": "AKSUbuntu-2404gen2containerd-202611.02.0",
    "Ubuntu2204": "AKSUbuntu-2204gen2containerd-202611.02.0",
    "Ubuntu2404": "AKSUbuntu-2404gen2containerd-202611.02.0",
    "AzureLinux": "AKSAzureLinux-V3gen2-202611.02.0",
    "AzureLinux3": "AKSAzureLinux-V3gen2-202611.02.0",
}
MAX_PODS = {("azure", None): 30, ("azure", "overlay"): 250}
MAX_PODS_OTHERWISE = 110

CLUSTER: Json = {
    "autoUpgradeProfile": {"nodeOSUpgradeChannel": "NodeImage"},
    "bootstrapProfile": {"artifactSource": "Direct"},
    "disableLocalAccounts": False,
    "enableRBAC": True,
    "kubernetesVersion": kubernetes.DEFAULT,
    "networkProfile": {
        "networkPlugin": "kubenet",
        "loadBalancerSku": "standard",
        "loadBalancerProfile": {
            "backendPoolType": "nodeIPConfiguration",
            "managedOutboundIPs": {"count": 1},
        },
        "serviceCidr": "10.0.0.0/16",
        "serviceCidrs": ["10.0.0.0/16"],
        "dnsServiceIP": "10.0.0.10",
        "outboundType": "loadBalancer",
        "ipFamilies": ["IPv4"],
    },
    "nodeProvisioningProfile": {"mode": "Manual"},
    "oidcIssuerProfile": {"enabled": False},
    "servicePrincipalProfile": {"clientId": "msi"},
    "storageProfile": {
        "diskCSIDriver": {"enabled": True},
        "fileCSIDriver": {"enabled": True},
        "snapshotController": {"enabled": True},
    },
    "supportPlan": "KubernetesOfficial",
}
# For network plug-ins that give pods addresses outside the subnet.
POD_NETWORK: Json = {"podCidr": "10.244.0.0/16", "podCidrs": ["10.244.0.0/16"]}
SKU = {"name": "Base", "tier": "Free"}

SERVER_MADE = ("azurePortalFQDN", "fqdn", "identityProfile", "resourceUID")

# Secrets: written by clients, never given back.
WRITE_ONLY = (("servicePrincipalProfile", "secret"), ("windowsProfile", "adminPassword"))


def pool(requested: Json, present: Json | None, cluster: Json) -> Json:
    """Returns the properties of an agent pool after a PUT."""
    given = _without(requested, fields.names(fields.INLINE_POOL, SERVERS))
    if given.get("osDiskSizeGB") == 0:
        del given["osDiskSizeGB"]  # documented: zero asks for the default
    given = _filled(_kept(present, fields.names(fields.POOL, KEPT, FIXED)), given)
    given = _spelled_as_known(given)
    size = str(given.get("vmSize", "")).lower()
    is_spot = given.get("scaleSetPriority") == "Spot"
    network = cluster["networkProfile"]
    plugin = (network.get("networkPlugin"), network.get("networkPluginMode"))
    filled = _filled(
        POOL
        | {"orchestratorVersion": cluster["kubernetesVersion"]}
        | {"maxPods": MAX_PODS.get(plugin, MAX_PODS_OTHERWISE)}
        | ({"count": given["minCount"]} if given.get("enableAutoScaling") else {})
        # All NVIDIA sizes are named so.
        | (NVIDIA_POOL if size.startswith("standard_n") else {})
        | (SPOT_POOL if is_spot else {}),
        given,
    )
    if is_spot:
        filled["nodeLabels"] = (filled.get("nodeLabels") or {}) | dict([nodes.SPOT_LABEL])
        taints = [taint for taint in filled.get("nodeTaints") or () if taint != nodes.SPOT_TAINT]
        filled["nodeTaints"] = [*taints, nodes.SPOT_TAINT]
    filled["currentOrchestratorVersion"] = _release(
        filled["orchestratorVersion"],
        (present or {}).get("currentOrchestratorVersion"),
        cluster.get("currentKubernetesVersion"),
    )
    if image := NODE_IMAGES.get(filled["osSKU"]):
        filled["nodeImageVersion"] = image
    return filled


def cluster(requested: Json, present: Json | None, name: str, group: str, location: str) -> Json:
    """Returns the properties of a cluster after a PUT."""
    given = _without(requested, fields.names(fields.CLUSTER, SERVERS))
    given = _filled(_kept(present, fields.names(fields.CLUSTER, KEPT, FIXED)), given)
    filled = _filled(CLUSTER, given)
    network = filled["networkProfile"]
    if network["networkPlugin"] == "kubenet" or network.get("networkPluginMode") == "overlay":
        filled["networkProfile"] = _filled(POD_NETWORK, network)
    filled.setdefault("nodeResourceGroup", clusters.node_group(group, name, location))
    filled["currentKubernetesVersion"] = _release(
        filled["kubernetesVersion"], (present or {}).get("currentKubernetesVersion")
    )
    filled |= {"maxAgentPools": 100, "powerState": {"code": "Running"}}
    for section, secret in WRITE_ONLY:
        if isinstance(filled.get(section), dict):
            filled[section] = _without(filled[section], {secret})
    return filled | (_kept(present, SERVER_MADE) if present else _first_made(filled, location))


def _release(requested: str, *current: str | None) -> str:
    """Returns the patch release after a PUT; its minor version alone does not raise it.

    A pool that moves to the minor version of its control plane gets the release of that.
    """
    for release in current:
        if release and release.startswith(f"{requested}."):
            return release
    return kubernetes.full_version(requested)


def _first_made(properties: Json, location: str) -> Json:
    uid = uuid.uuid4().hex[:24]
    prefix = properties.get("dnsPrefix") or properties["fqdnSubdomain"]
    host = f"{prefix}-{uid[:8]}"
    return {
        "fqdn": f"{host}.hcp.{location}.azmk8s.io",
        "azurePortalFQDN": f"{host}.portal.hcp.{location}.azmk8s.io",
        "resourceUID": uid,
    }


def _spelled_as_known(given: Json) -> Json:
    """Returns the properties with choices in AKS's own case; requests may use any case."""
    known = {
        name: value
        for name, values in fields.POOL_CHOICES.items()
        for value in values
        if isinstance(given.get(name), str) and value.lower() == given[name].lower()
    }
    return given | known


def _kept(present: Json | None, names: Iterable[str]) -> Json:
    return {name: present[name] for name in names if present and name in present}


def _without(values: Json, names: Iterable[str]) -> Json:
    """Returns the values under all other names.

    A null counts as absent, and so does the empty text that `az` sends for a version that its user
    left out.
    """
    dropped = set(names)
    return {
        name: value
        for name, value in values.items()
        if name not in dropped and value is not None and value != ""
    }


def _filled(defaults: Json, given: Json) -> Json:
    merged = defaults | given
    for name, default in defaults.items():
        if isinstance(default, dict) and isinstance(given.get(name), dict):
            merged[name] = _filled(default, _without(given[name], ()))
    return merged
