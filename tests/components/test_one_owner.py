"""The specialized image of what runs: AKS gives it to new nodes, and no update changes it."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.one_owner import OwnerError, _stays, keeps_its_image

NAMES = st.sampled_from(["UseGPUDedicatedVHD", "usegpudedicatedvhd", "EnableACRTeleport"])
VALUES = st.sampled_from(["true", "True", "false"])
HEADERS = st.none() | st.dictionaries(NAMES, VALUES, max_size=1)


def update(old: dict[str, str] | None, new: dict[str, str] | None, kind: str = "AgentPool") -> Any:
    inputs = ({} if headers is None else {"customHeaders": headers} for headers in (old, new))
    return SimpleNamespace(
        name="gpu",
        type=f"aks-preview:containerservice:{kind}",
        old_inputs=next(inputs),
        new_inputs=next(inputs),
    )


def has_image(headers: dict[str, str] | None) -> bool:
    return ("usegpudedicatedvhd", "true") in {
        (name.lower(), value.lower()) for name, value in (headers or {}).items()
    }


@given(HEADERS, HEADERS)
def test_no_update_changes_the_image(
    old: dict[str, str] | None, new: dict[str, str] | None
) -> None:
    """With its header on or off, the plugin's DaemonSet came or went, and the nodes stayed."""
    try:
        asyncio.run(keeps_its_image(update(old, new)))
    except OwnerError:
        assert has_image(old) != has_image(new)
    else:
        # Imported: nobody can say which headers made it.
        assert old is None or has_image(old) == has_image(new)


def test_unknown_headers_are_no_change_of_the_image() -> None:
    """A preview said that the pool loses its image, since another header was not known yet."""

    async def look() -> None:
        to_come: Any = pulumi.Output(set(), asyncio.sleep(0), asyncio.sleep(0, result=False))
        inputs = update({"UseGPUDedicatedVHD": "true"}, None)
        inputs.new_inputs = {"customHeaders": {"UseGPUDedicatedVHD": "true", "X-Team": to_come}}
        await keeps_its_image(inputs)

    asyncio.run(look())


@pytest.mark.parametrize(
    ("kind", "way_out"),
    [
        ("AgentPool", "create another pool; or set replaceOnHeaderChange: true"),
        ("ManagedCluster", "create another cluster."),
    ],
)
def test_the_refusal_names_the_key_of_the_stack_file(kind: str, way_out: str) -> None:
    """It named customHeaders, where the user had written gpuStack alone."""
    for headers in ({}, {"UseGPUDedicatedVHD": "true"}):
        new = {} if headers else {"UseGPUDedicatedVHD": "true"}
        with pytest.raises(OwnerError, match="gpuStack: specialized-image") as refused:
            asyncio.run(keeps_its_image(update(headers, new, kind)))
        assert way_out in str(refused.value)


@pytest.mark.parametrize(
    ("inputs", "made_with"),
    [
        ({}, "custom headers"),
        ({"gpuProfile": {"nvidia": {"managementMode": "Managed"}}}, "gpuStack managed"),
    ],
)
def test_a_pool_of_aks_preview_that_azure_native_would_update_can_stay(
    inputs: dict[str, Any], made_with: str
) -> None:
    """Also a managed one, once azure-native can manage it: nobody has given it headers."""
    moving = update({}, None)
    moving.old_inputs |= inputs
    moving.old_outputs = {}
    words = f"created gpu with {made_with}, .* set customHeaders: {{}} to keep it"
    with pytest.raises(OwnerError, match=words):
        asyncio.run(_stays(moving))
