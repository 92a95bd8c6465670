"""What a stack file can say, key by key."""

from typing import Annotated

import pydantic
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from catalogue.nodes import LINUX_POOL_NAME, LINUX_POOL_NAME_RULE
from catalogue.sizes import is_gpu_size


def _pool_name(name: str) -> str:
    if not LINUX_POOL_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a pool: AKS takes {LINUX_POOL_NAME_RULE}")
    return name


def _gpu_size(vm_size: str) -> str:
    if not is_gpu_size(vm_size):
        raise ValueError(
            f"{vm_size!r} is no GPU size: take one of the N-series, as Standard_NC8as_T4_v3"
        )
    return vm_size


PoolName = Annotated[str, pydantic.AfterValidator(_pool_name)]


class Section(BaseModel):
    """A part of a stack file. Its keys are written as JSON has them: gpuPools."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, populate_by_name=True
    )


class SystemPool(Section):
    """The pool that the cluster's own pods run on."""

    vm_size: str = "Standard_D4ds_v5"
    count: int = Field(default=1, ge=1, le=1000)


class GpuPool(Section):
    """One pool of GPU nodes."""

    name: PoolName
    vm_size: Annotated[str, pydantic.AfterValidator(_gpu_size)]
    count: int = Field(default=1, ge=0, le=1000)


class Settings(Section):
    """A stack's configuration, key by key."""

    location: str = "eastus"
    resource_group: str = Field(default="myResourceGroup", min_length=1, max_length=90)
    cluster: str = Field(default="myAKSCluster", min_length=1, max_length=63)
    # Empty: whatever AKS takes by itself for a new cluster.
    kubernetes_version: str = ""
    system_pool: SystemPool = SystemPool()
    gpu_pools: list[GpuPool] = []

    @pydantic.model_validator(mode="after")
    def _pools_have_names_of_their_own(self) -> "Settings":
        names = [pool.name for pool in self.gpu_pools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"gpuPools: two pools are named {', '.join(twice)}: name each once")
        return self
