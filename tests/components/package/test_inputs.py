"""What a program in another language passes: values of every kind, at every depth."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi.provider.server import ProviderServicer
from pulumi.runtime import proto, rpc

from components import AksCluster, GpuNodePool, NvidiaDevicePlugin, NvidiaGpuOperator
from components.package.provider import Components, or_nothing

PACKAGE = Components()
POOL = {"resourceGroupName": "g", "clusterName": "c", "poolName": "p", "vmSize": "s"}


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """Outputs need an event loop."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield
        asyncio.set_event_loop(None)


def read(component: type, values: dict[str, Any]) -> tuple[Any, list[str]]:
    arguments, mistakes = PACKAGE.read(component, values)
    return arguments, [str(mistake) for mistake in mistakes]


def sent(**about: Any) -> dict[str, Any]:
    """An output as the engine sends it."""
    return {rpc._special_sig_key: rpc._special_output_value_sig, **about}


async def received(values: dict[str, Any]) -> dict[str, Any]:
    """What the SDK makes of inputs that the engine sends."""
    request = proto.ConstructRequest()
    request.inputs.update(values)
    return await ProviderServicer._construct_inputs(request.inputs, {})


async def state_of(value: Any) -> tuple[Any, bool, bool]:
    """The value of an output, whether it is known, and whether it is a secret."""
    output = pulumi.Output.from_input(value)
    known = await output.is_known()
    return (await output.future() if known else None), known, await output.is_secret()


def test_numbers_that_are_whole_are_integers() -> None:
    pool, mistakes = read(GpuNodePool, POOL | {"count": 2.0, "spotMaxPrice": 1.5})
    assert not mistakes
    assert (pool.count, type(pool.count), pool.spot_max_price) == (2, int, 1.5)
    assert pool.gpu_stack == "device-plugin"


def test_nested_objects_are_classes_with_their_defaults() -> None:
    cluster, mistakes = read(
        AksCluster,
        {
            "resourceGroupName": "g",
            "location": "eastus",
            "clusterName": "c",
            "systemPool": {"vmSize": "Standard_D4ds_v5", "count": 3.0},
            "entra": {"adminGroupObjectIds": ["a"]},
        },
    )
    assert not mistakes
    assert (cluster.system_pool.count, cluster.system_pool.pool_name) == (3, "system")
    assert (cluster.network.mode, cluster.entra.admin_group_object_ids) == ("overlay", ["a"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"count": sent(value=2, secret=True)}, ("2", True, True)),
        ({"count": sent()}, ("None", False, False)),
        ({"count": rpc.UNKNOWN}, ("None", False, False)),
        ({"labels": {"team": sent()}}, ("None", False, False)),
        ({"labels": {"team": sent(value="s", secret=True)}}, ("{'team': 's'}", True, True)),
        ({"taints": sent(value=["a=b:NoSchedule"])}, ("['a=b:NoSchedule']", True, False)),
    ],
)
def test_unknown_and_secret_values_stay_what_they_are(
    values: dict[str, Any], expected: tuple[str, bool, bool]
) -> None:
    async def state() -> tuple[str, bool, bool]:
        pool, mistakes = read(GpuNodePool, await received(POOL | values))
        assert not mistakes
        [name] = values
        value, *about = await state_of(getattr(pool, name))
        return str(value), about[0], about[1]

    assert asyncio.get_event_loop().run_until_complete(state()) == expected


def test_a_plain_argument_takes_an_output_that_is_known() -> None:
    """Whether a pool has a MIG profile is an output in the SDKs, and known in a preview."""

    async def state() -> tuple[Any, list[str]]:
        known, secret = sent(value=True, dependencies=["urn"]), sent(value="none", secret=True)
        pools = [{"poolName": "p", "hasMig": known, "gpuStack": secret}]
        plugin, mistakes = read(NvidiaDevicePlugin, await received({"pools": pools}))
        return plugin.pools[0].has_mig, mistakes

    has_mig, mistakes = asyncio.get_event_loop().run_until_complete(state())
    assert has_mig is True
    assert [mistake.partition(":")[0] for mistake in mistakes] == ["pools[0].gpuStack"]


def test_values_of_any_type_are_read_at_every_depth() -> None:
    """Values of a chart were refused: each had to be an object, and an object had to be known."""

    async def state() -> None:
        chart = {
            "replicas": 2,
            "env": [{"name": "A", "on": True}],
            "token": sent(value="hunter2", secret=True),
            "host": {"name": sent()},
        }
        operator, mistakes = read(NvidiaGpuOperator, await received({"values": chart}))
        assert not mistakes
        assert operator.values["replicas"] == 2
        assert operator.values["env"] == [{"name": "A", "on": True}]
        assert await state_of(operator.values["token"]) == ("hunter2", True, True)
        assert await state_of(operator.values["host"]["name"]) == (None, False, False)

    asyncio.get_event_loop().run_until_complete(state())


def test_all_mistakes_are_reported_at_once() -> None:
    hunter2 = sent(value="hunter2", secret=True)
    inputs = asyncio.get_event_loop().run_until_complete(
        received(
            {
                "clusterName": 1.0,
                "poolName": ["p"],
                "vm_size": "s",
                "count": "two",
                "minCount": 1.5,
                "zones": "1",
                "labels": {"a": True},
                "gpuStack": hunter2,
                "customHeaders": rpc.UNKNOWN,
                "unheardOf": [hunter2],
            }
        )
    )
    _, mistakes = read(GpuNodePool, inputs)
    assert [mistake.partition(":")[0] for mistake in sorted(mistakes)] == [
        "clusterName",
        "count",
        "customHeaders",
        "gpuStack",
        "labels.a",
        "minCount",
        "poolName",
        "resourceGroupName",
        "unheardOf",
        "vmSize",
        "vm_size",
        "zones",
    ]
    assert "hunter2" not in str(mistakes)


def test_items_of_lists_have_paths() -> None:
    _, mistakes = read(NvidiaDevicePlugin, {"pools": [{"poolName": 1.0}, {"hasMig": "no"}]})
    assert [mistake.partition(":")[0] for mistake in mistakes] == [
        "pools[0].poolName",
        "pools[1].poolName",
        "pools[1].hasMig",
    ]


def test_what_rules_refuse_is_reported_with_what_cannot_be_read() -> None:
    wrong = POOL | {"poolName": "Train", "count": "two", "sharing": "no", "extra": "none"}
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        PACKAGE.construct("train", "aks-gpu:components:GpuNodePool", wrong)
    # The SDK tells a RunError without the properties.
    assert not isinstance(refused.value, pulumi.RunError)
    paths = [error["property_path"] for error in refused.value.errors or ()]
    assert sorted(paths) == ["count", "extra", "poolName", "sharing", "vmSize"]


def test_what_azure_refuses_to_look_up_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program failed because its identity may not list a cluster's credentials."""
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, _: warnings.append(text))

    async def states() -> list[Any]:
        refused: pulumi.Output[int] = pulumi.Output.from_input(0).apply(lambda zero: 1 // zero)
        cluster = SimpleNamespace(kubeconfig=refused, identifier=pulumi.Output.secret("a"))
        return [await state_of(or_nothing(cluster, name)) for name in vars(cluster)]

    found = asyncio.get_event_loop().run_until_complete(states())
    assert found == [(None, True, False), ("a", True, True)]
    assert [text.partition(":")[0] for text in warnings] == ["kubeconfig is left out"]


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.just(pulumi.UNKNOWN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["count", "zones", "labels", "gpuStack", "customHeaders", "spot", "other"])


@given(st.dictionaries(names, values, max_size=4))
def test_any_input_is_read_or_refused(given_values: dict[str, Any]) -> None:
    assert read(GpuNodePool, POOL | given_values)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_no_value_of_any_type_is_refused(given_values: dict[str, Any]) -> None:
    operator, mistakes = read(NvidiaGpuOperator, {"values": given_values})
    assert not mistakes
    assert operator.values.keys() == given_values.keys()
