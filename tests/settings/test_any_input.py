"""Whatever stands in a stack file: it is read, or refused in lines that each name a key."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settings import Settings, SettingsError, load
from settings.pools import GpuPool

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
anything = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
KEYS = [str(field.alias) for field in Settings.model_fields.values()]
POOL_KEYS = [str(field.alias) for field in GpuPool.model_fields.values()]
pools = st.dictionaries(st.sampled_from(POOL_KEYS) | st.text(max_size=5), anything, max_size=6)


def read(values: dict[str, Any]) -> None:
    texts = {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }
    with contextlib.suppress(SettingsError):
        load(texts, lambda _: None)
        return
    lines = mistakes(texts)
    assert lines
    assert all(":" in line for line in lines)


def mistakes(texts: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load(texts, lambda _: None)
    return str(refused.value).split("\n")


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), anything, max_size=5))
def test_any_stack_file_is_read_or_refused(values: dict[str, Any]) -> None:
    read(values)


@given(st.lists(pools, max_size=3))
def test_any_gpu_pools_are_read_or_refused(value: list[dict[str, Any]]) -> None:
    read({"gpuPools": value})
