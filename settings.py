"""What a stack file can say: typed, with every mistake reported at once and by its key."""

import difflib
import json
from collections.abc import Mapping
from typing import Annotated

import pydantic
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from catalogue.nodes import LINUX_POOL_NAME, LINUX_POOL_NAME_RULE
from catalogue.sizes import is_gpu_size

PROJECT = "aks-gpu"


class SettingsError(Exception):
    """A stack file that cannot be used; its text has one line a mistake."""


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


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, populate_by_name=True
    )


class SystemPool(_Section):
    """The pool that the cluster's own pods run on."""

    vm_size: str = "Standard_D4ds_v5"
    count: int = Field(default=1, ge=1, le=1000)


class GpuPool(_Section):
    """One pool of GPU nodes."""

    name: PoolName
    vm_size: Annotated[str, pydantic.AfterValidator(_gpu_size)]
    count: int = Field(default=1, ge=0, le=1000)


class Settings(_Section):
    """A stack's configuration, key by key."""

    location: str = "eastus"
    resource_group: str = Field(default="myResourceGroup", min_length=1, max_length=90)
    cluster: str = Field(default="myAKSCluster", min_length=1, max_length=63)
    kubernetes_version: str | None = None
    system_pool: SystemPool = SystemPool()
    gpu_pools: tuple[GpuPool, ...] = ()

    @pydantic.model_validator(mode="after")
    def _pools_have_names_of_their_own(self) -> "Settings":
        names = [pool.name for pool in self.gpu_pools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"gpuPools: two pools are named {', '.join(twice)}: name each once")
        return self


def load(config: Mapping[str, str]) -> Settings:
    """The settings in a stack's configuration, whose structured values are JSON texts.

    Raises SettingsError with one line for each mistake.
    """
    prefix = f"{PROJECT}:"
    values = {
        key.removeprefix(prefix): _value(text)
        for key, text in config.items()
        if key.startswith(prefix)
    }
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error))) from None


def _value(text: str) -> object:
    try:
        return json.loads(text) if text[:1] in ("[", "{") else text
    except json.JSONDecodeError:
        return text


def _lines(error: ValidationError) -> list[str]:
    mistakes = error.errors(include_url=False, include_context=False)
    return [_line(_key(mistake["loc"]), mistake) for mistake in mistakes]


def _line(key: str, mistake: ErrorDetails) -> str:
    match mistake["type"]:
        case "missing":
            return f"{key}: is required"
        case "extra_forbidden":
            known = sorted(_known_keys(mistake["loc"][:-1]))
            near = difflib.get_close_matches(str(mistake["loc"][-1]), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
            return f"{key}: is not a key of a stack file; {hint}"
        case "value_error":
            message = mistake["msg"].removeprefix("Value error, ")
            return f"{key}: {message}" if key else message
        case _:
            said = mistake["msg"][0].lower() + mistake["msg"][1:]
            return f"{key}: {said}, not {mistake['input']!r}"


def _key(location: tuple[int | str, ...]) -> str:
    """A location as people write it: gpuPools[1].vmSize."""
    key = ""
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def _known_keys(location: tuple[int | str, ...]) -> set[str]:
    sections: dict[str, type[_Section]] = {"systemPool": SystemPool, "gpuPools": GpuPool}
    section = sections.get(str(location[0]), Settings) if location else Settings
    return {field.alias or name for name, field in section.model_fields.items()}
