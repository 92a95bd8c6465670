"""What a program in another language passes: values of every kind, at every depth."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi.provider.experimental.property_value import PropertyValue

from components import (
    AksClusterArgs,
    GpuNodePoolArgs,
    NvidiaDevicePluginArgs,
    NvidiaGpuOperatorArgs,
)
from components.package.inputs import Reader
from provider_kit.values import UNKNOWN, property_map, property_value

POOL = {"resourceGroupName": "g", "clusterName": "c", "poolName": "p", "vmSize": "s"}


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """Outputs need an event loop."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield
        asyncio.set_event_loop(None)


def read(arguments: type, values: dict[str, Any]) -> tuple[Any, list[str]]:
    reader = Reader()
    inputs = {
        name: value if isinstance(value, PropertyValue) else property_value(value)
        for name, value in values.items()
    }
    result = reader.arguments(arguments, inputs)
    return result, [str(mistake) for mistake in reader.mistakes]


def secret(value: Any) -> PropertyValue:
    return property_value(value).with_secret(True)


async def state_of(value: Any) -> tuple[Any, bool, bool]:
    """The value of an output, whether it is known, and whether it is a secret."""
    output = pulumi.Output.from_input(value)
    known = await output.is_known()
    return (await output.future() if known else None), known, await output.is_secret()


def test_numbers_that_are_whole_are_integers() -> None:
    pool, mistakes = read(GpuNodePoolArgs, POOL | {"count": 2, "spotMaxPrice": 1.5})
    assert not mistakes
    assert (pool.count, type(pool.count), pool.spot_max_price) == (2, int, 1.5)
    assert pool.gpu_stack == "device-plugin"


def test_nested_objects_are_classes_with_their_defaults() -> None:
    cluster, mistakes = read(
        AksClusterArgs,
        {
            "resourceGroupName": "g",
            "location": "eastus",
            "clusterName": "c",
            "systemPool": {"vmSize": "Standard_D4ds_v5", "count": 3},
            "entra": {"adminGroupObjectIds": ["a"]},
        },
    )
    assert not mistakes
    assert (cluster.system_pool.count, cluster.system_pool.pool_name) == (3, "system")
    assert (cluster.network.mode, cluster.entra.admin_group_object_ids) == ("overlay", ["a"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"count": secret(2)}, (2, True, True)),
        ({"count": property_value(UNKNOWN)}, (None, False, False)),
        ({"labels": {"team": UNKNOWN}}, (None, False, False)),
        ({"labels": PropertyValue({"team": secret("s")})}, ({"team": "s"}, True, True)),
        ({"taints": secret(["a=b:NoSchedule"])}, (["a=b:NoSchedule"], True, True)),
        ({"taints": property_value(["a=b:NoSchedule", UNKNOWN])}, (None, False, False)),
    ],
)
def test_unknown_and_secret_values_stay_what_they_are(
    values: dict[str, Any], expected: tuple[Any, bool, bool]
) -> None:
    async def state() -> tuple[Any, bool, bool]:
        pool, mistakes = read(GpuNodePoolArgs, POOL | values)
        assert not mistakes
        [name] = values
        return await state_of(getattr(pool, name))

    assert asyncio.get_event_loop().run_until_complete(state()) == expected


def test_a_secret_map_of_a_plain_argument_has_secret_values() -> None:
    """Whether there are headers decides which provider manages the pool."""

    async def state() -> tuple[Any, bool, bool]:
        pool, mistakes = read(GpuNodePoolArgs, POOL | {"customHeaders": secret({"A": "b"})})
        assert not mistakes
        assert [*pool.custom_headers] == ["A"]
        return await state_of(pool.custom_headers["A"])

    assert asyncio.get_event_loop().run_until_complete(state()) == ("b", True, True)


def test_values_of_any_type_are_read_at_every_depth() -> None:
    """Values of a chart were refused: each had to be an object, and an object had to be known."""

    async def state() -> None:
        chart = PropertyValue(
            {
                "replicas": property_value(2),
                "env": property_value([{"name": "A", "on": True}]),
                "token": secret("hunter2"),
                "host": PropertyValue({"name": property_value(UNKNOWN)}),
            }
        )
        operator, mistakes = read(NvidiaGpuOperatorArgs, {"values": chart})
        assert not mistakes
        assert operator.values["replicas"] == 2
        assert operator.values["env"] == [{"name": "A", "on": True}]
        assert await state_of(operator.values["token"]) == ("hunter2", True, True)
        assert await state_of(operator.values["host"]["name"]) == (None, False, False)

    asyncio.get_event_loop().run_until_complete(state())


def test_a_mistake_does_not_repeat_a_secret() -> None:
    wrong = PropertyValue({"a": secret("hunter2")})
    _, mistakes = read(GpuNodePoolArgs, POOL | {"zones": wrong, "count": secret("hunter2")})
    assert len(mistakes) == 2
    assert "hunter2" not in str(mistakes)


def test_all_mistakes_are_reported_at_once() -> None:
    _, mistakes = read(
        GpuNodePoolArgs,
        {
            "clusterName": 1,
            "poolName": ["p"],
            "vm_size": "s",
            "count": "two",
            "minCount": 1.5,
            "zones": "1",
            "labels": {"a": True},
            "gpuStack": UNKNOWN,
            "customHeaders": UNKNOWN,
            "replaceOnHeaderChange": secret(value=True),
            "unheardOf": None,
        },
    )
    assert sorted(mistake.partition(":")[0] for mistake in mistakes) == sorted(
        [
            "clusterName",
            "count",
            "customHeaders",
            "gpuStack",
            "labels.a",
            "minCount",
            "poolName",
            "replaceOnHeaderChange",
            "resourceGroupName",
            "unheardOf",
            "vmSize",
            "vm_size",
            "zones",
        ]
    )


def test_items_of_lists_have_paths() -> None:
    _, mistakes = read(NvidiaDevicePluginArgs, {"pools": [{"poolName": 1}, {"hasMig": "no"}]})
    assert [mistake.partition(":")[0] for mistake in mistakes] == [
        "pools[0].poolName",
        "pools[1].poolName",
        "pools[1].hasMig",
    ]


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.just(UNKNOWN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["count", "zones", "labels", "gpuStack", "customHeaders", "spot", "other"])


@given(st.dictionaries(names, values, max_size=4))
def test_any_input_is_read_or_refused(given_values: dict[str, Any]) -> None:
    reader = Reader()
    assert reader.arguments(GpuNodePoolArgs, property_map(POOL | given_values))


@given(st.dictionaries(st.text(), values, max_size=4))
def test_no_value_of_any_type_is_refused(given_values: dict[str, Any]) -> None:
    operator, mistakes = read(NvidiaGpuOperatorArgs, {"values": given_values})
    assert not mistakes
    assert operator.values.keys() == given_values.keys()
