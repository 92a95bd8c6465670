"""Nodes without an agent pool, of Karpenter's NodePools.

AKS node auto-provisioning and AKS Automatic use Karpenter.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from aks_catalogue.shapes import mapping, mappings, sequence
from aks_catalogue.sizes import is_gpu_size
from aks_pools.pools import Pool
from aks_pools.vocabulary import AZURE_NATIVE

_TYPE = re.compile(r"kubernetes:karpenter\.sh/\w+:NodePool(Patch)?")
_AZURE = "karpenter.azure.com"
_SIZE_LABELS = (f"{_AZURE}/sku-name", "node.kubernetes.io/instance-type")
_FAMILY_LABEL = f"{_AZURE}/sku-family"
_GPU_LABELS = f"{_AZURE}/sku-gpu-"
# The requirements that exclude GPUs, by operator.
_NO_GPUS: Mapping[str, tuple[list[str], ...]] = MappingProxyType(
    {"DoesNotExist": ([],), "In": (["0"],), "Lt": (["1"],)}
)


def provisioned(resource_type: str, properties: Mapping[str, Any]) -> Iterator[Pool]:
    """Yields the nodes that a resource creates as a pool, with all the VM sizes that it names."""
    if is_node_pool(resource_type, properties):
        sizes = {"scale": {"autoscale": [{"sizes": sizes_of(properties)}]}}
        taints = {
            name: [_written(taint) for taint in mappings(_template(properties).get(karpenter_name))]
            for name, karpenter_name in (
                ("nodeTaints", "taints"), ("nodeInitializationTaints", "startupTaints")
            )
        }  # fmt: skip
        node = {"virtualMachinesProfile": sizes, **taints}
        yield Pool(AZURE_NATIVE, properties, lambda: node, noun="This NodePool")


def is_node_pool(resource_type: str, properties: Mapping[str, Any]) -> bool:
    """Whether a resource is a NodePool of Karpenter, and not one of another cloud."""
    if not _TYPE.fullmatch(resource_type):
        return False
    of_cloud = mapping(_template(properties).get("nodeClassRef"))
    # Before Karpenter 1.0, the group was a part of apiVersion.
    group = of_cloud.get("group") or str(of_cloud.get("apiVersion") or "").partition("/")[0]
    return group in ("", _AZURE)


def sizes_of(properties: Mapping[str, Any]) -> list[str]:
    """Returns the VM sizes that a NodePool names."""
    return [
        value
        for key, operator, values in _requirements(properties)
        if key in _SIZE_LABELS and operator == "In"
        for value in values
    ]


def can_have_gpus(properties: Mapping[str, Any]) -> bool:
    """Whether a NodePool's requirements allow GPU nodes. Without requirements, they do."""
    for key, operator, values in _requirements(properties):
        if key in _SIZE_LABELS and operator == "In" and not any(map(is_gpu_size, values)):
            return False
        if key == _FAMILY_LABEL and operator == "In" and "N" not in map(str.upper, values):
            return False
        if key == _FAMILY_LABEL and operator == "NotIn" and "N" in map(str.upper, values):
            return False
        if key.startswith(_GPU_LABELS) and values in _NO_GPUS.get(operator, ()):
            return False
    return True


def _template(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(mapping(properties.get("spec")).get("template")).get("spec"))


def _requirements(properties: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    for requirement in mappings(_template(properties).get("requirements")):
        values = [*map(str, sequence(requirement.get("values")))]
        yield str(requirement.get("key")), str(requirement.get("operator")), values


def _written(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"
