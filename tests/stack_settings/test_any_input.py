"""Whatever stands in a stack file: it is read, or refused in lines that each name a key."""

import contextlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.kinds import kind_of
from stack_settings.model import Settings
from stack_settings.pools import GpuPool
from stack_settings.reading import SettingsError, load
from stack_settings.section import keys

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
anything = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
KEYS, POOL_KEYS = [*keys(Settings)], [*keys(GpuPool)]
pools = st.dictionaries(st.sampled_from(POOL_KEYS) | st.text(max_size=5), anything, max_size=6)


def texts_of(values: dict[str, Any]) -> dict[str, str]:
    return {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }


def read(values: dict[str, Any]) -> None:
    texts = texts_of(values)
    with contextlib.suppress(SettingsError):
        load(texts, "test", lambda _: None)
        return
    lines = mistakes(texts)
    assert lines
    assert all(":" in line for line in lines)


def mistakes(texts: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load(texts, "test", lambda _: None)
    return str(refused.value).split("\n")


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), anything, max_size=5))
def test_any_stack_file_is_read_or_refused(values: dict[str, Any]) -> None:
    read(values)


# It ended with a traceback.
@example([{"count": math.inf}])
@given(st.lists(pools, max_size=3))
def test_any_gpu_pools_are_read_or_refused(value: list[dict[str, Any]]) -> None:
    read({"gpuPools": value})


# Words of Python; in quotes, they can be the author's own.
FOREIGN = re.compile(
    r"\b(True|False|None|dict|dictionary|instance|input|parse|unable|appear|bits|character|pattern"
    r"|[A-Z][a-z]+Pool|[A-Z][a-z]+Group)\b"
)
WRONG: tuple[Any, ...] = (
    None,
    True,
    3,
    -3,
    1.5,
    10**30,
    "",
    "x",
    "a b",
    [],
    ["x"],
    [3],
    [None],
    {},
    {"a b": "c"},
    {"a": 3},
)


def paths(section: Any, path: str = "") -> Iterator[str]:
    for key, field in keys(section).items():
        own = f"{path}.{key}".lstrip(".")
        kind = kind_of(field.type)
        yield own
        if kind.items and is_dataclass(kind.items.base):
            yield f"{own}[]"
            yield from paths(kind.items.base, f"{own}[]")
        elif is_dataclass(kind.base):
            yield from paths(kind.base, own)


def stack_with(path: str, value: Any) -> dict[str, Any]:
    for key in reversed(path.split(".")):
        value = {key.removesuffix("[]"): [value] if key.endswith("[]") else value}
    return dict(value)


@pytest.mark.parametrize("path", dict.fromkeys(paths(Settings)))
def test_no_words_of_python_reach_the_author(path: str) -> None:
    for wrong in WRONG:
        texts = texts_of(stack_with(path, wrong))
        with contextlib.suppress(SettingsError):
            load(texts, "test", lambda _: None)
            continue
        for line in mistakes(texts):
            assert not FOREIGN.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", line)), line


def test_a_misspelled_key_in_a_misspelled_section_is_refused() -> None:
    """It ended in a KeyError: the reader looked for the section that the file does not have."""
    with pytest.raises(SettingsError, match="did you mean cluster"):
        load({"aks-gpu:cluste": '{"nam": "x"}'}, "test", lambda _: None)


# All keys, with what rules compare across sections.
WHOLE: dict[str, Any] = {
    "location": "westeurope",
    "allowRetired": True,
    "gpuStack": "operator",
    "managedGpuFeature": "register",
    "infinibandFeature": "register",
    "gpuTaint": "nvidia.com/gpu",
    "tags": {"team": "a"},
    "resourceGroup": {"name": "own"},
    "cluster": {
        "kubernetesVersion": "1.36",
        "userAssignedIdentityId": "/subscriptions/s/.../userAssignedIdentities/i",
    },
    "network": {"podCidr": "10.244.0.0/16"},
    "systemPool": {"removed": True},
    "systemPools": [{"name": "system2", "kubernetesVersion": "1.36"}],
    "pools": [{"name": "cpu", "kubernetesVersion": "1.35"}],
    "gpuPools": [
        {
            "name": "gpu",
            "vmSize": "Standard_NC8as_T4_v3",
            "capacityReservationGroupId": "/subscriptions/s/resourceGroups/g/providers/"
            "Microsoft.Compute/capacityReservationGroups/r",
        }
    ],
    "gpuCapacity": [
        {"name": "c", "vmSize": "Standard_NC8as_T4_v3", "maxCount": 2, "rungs": [{"name": "r"}]}
    ],
    "devicePlugin": {"namespace": "gpu"},
    "gpuOperator": {"driver": "operator"},
    "registry": {"name": "hunter2hunter2"},
    "gpuIsolation": {"enabled": True},
    "sampleJob": {"enabled": True},
}


def test_a_stack_file_with_all_keys_is_read() -> None:
    assert {*WHOLE} == {*KEYS}
    load(texts_of(WHOLE), "test", lambda _: None)


@pytest.mark.parametrize("key", KEYS)
def test_a_misspelled_key_is_the_only_mistake(key: str) -> None:
    """It ended in a traceback for a section, or told what the stack misses without the key."""
    others = {name: value for name, value in WHOLE.items() if name != key}
    for at in range(1, len(key)):
        wrong = key[:at] + key[at + 1 :]
        for value in [WHOLE[key], {}, [], {"a": "b"}] * (wrong not in KEYS):
            (line,) = mistakes(texts_of({**others, wrong: value}))
            assert line.startswith(f"{wrong}: is not a key of a stack file: ")
