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


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Outputs need an event loop."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield runner.get_loop()
        asyncio.set_event_loop(None)


def sent(**about: Any) -> dict[str, Any]:
    """An output as the engine sends it; without a value it is unknown."""
    return {rpc._special_sig_key: rpc._special_output_value_sig, **about}


async def received(component: type, values: dict[str, Any]) -> tuple[Any, list[str]]:
    """The arguments that come of inputs as the engine sends them, and what is wrong."""
    request = proto.ConstructRequest()
    request.inputs.update(values)
    inputs = await ProviderServicer._construct_inputs(request.inputs, {})
    arguments, mistakes = PACKAGE.read(component, inputs)
    return arguments, [str(mistake) for mistake in mistakes]


def paths(mistakes: list[str]) -> list[str]:
    return sorted(mistake.partition(":")[0] for mistake in mistakes)


async def state_of(value: Any) -> tuple[Any, bool, bool]:
    """The value of an output, whether it is known, and whether it is a secret."""
    output = pulumi.Output.from_input(value)
    known = await output.is_known()
    return (await output.future() if known else None), known, await output.is_secret()


def test_objects_are_classes_with_their_defaults(loop: asyncio.AbstractEventLoop) -> None:
    given_values = {
        "resourceGroupName": "g",
        "location": "eastus",
        "clusterName": "c",
        "systemPool": {"vmSize": "Standard_D4ds_v5", "count": 3},
        "entra": {"adminGroupObjectIds": ["a"]},
    }
    cluster, mistakes = loop.run_until_complete(received(AksCluster, given_values))
    assert not mistakes
    pool = cluster.system_pool
    assert (pool.count, type(pool.count), pool.pool_name) == (3, int, "system")
    assert (cluster.network.mode, cluster.entra.admin_group_object_ids) == ("overlay", ["a"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"count": sent(value=2, secret=True)}, ("2", True, True)),
        ({"count": rpc.UNKNOWN}, ("None", False, False)),
        ({"labels": {"team": sent()}}, ("None", False, False)),
        ({"labels": {"team": sent(value="s", secret=True)}}, ("{'team': 's'}", True, True)),
    ],
)
def test_unknown_and_secret_values_stay_what_they_are(
    loop: asyncio.AbstractEventLoop, values: dict[str, Any], expected: tuple[str, bool, bool]
) -> None:
    async def state() -> tuple[str, bool, bool]:
        pool, mistakes = await received(GpuNodePool, POOL | values)
        assert not mistakes
        value, is_known, is_secret = await state_of(getattr(pool, *values))
        return str(value), is_known, is_secret

    assert loop.run_until_complete(state()) == expected


def test_a_plain_argument_takes_an_output_that_is_known(loop: asyncio.AbstractEventLoop) -> None:
    """Whether a pool has a MIG profile is an output in the SDKs, and known in a preview."""
    known, secret = sent(value=True, dependencies=["urn"]), sent(value="none", secret=True)
    pools = [{"poolName": "p", "hasMig": known, "gpuStack": secret}]
    plugin, mistakes = loop.run_until_complete(received(NvidiaDevicePlugin, {"pools": pools}))
    assert plugin.pools[0].has_mig is True
    assert paths(mistakes) == ["pools[0].gpuStack"]


def test_values_of_any_type_are_read_at_every_depth(loop: asyncio.AbstractEventLoop) -> None:
    """Values of a chart were refused: each had to be an object, and an object had to be known."""

    async def state() -> None:
        env, token = [{"name": "A", "on": True}], sent(value="hunter2", secret=True)
        chart = {"replicas": 2, "env": env, "token": token, "host": {"name": sent()}}
        operator, mistakes = await received(NvidiaGpuOperator, {"values": chart})
        assert not mistakes
        assert (operator.values["replicas"], operator.values["env"]) == (2, env)
        assert await state_of(operator.values["token"]) == ("hunter2", True, True)
        assert await state_of(operator.values["host"]["name"]) == (None, False, False)

    loop.run_until_complete(state())


def test_all_mistakes_are_reported_at_once(loop: asyncio.AbstractEventLoop) -> None:
    hunter2 = sent(value="hunter2", secret=True)
    wrong = {
        "clusterName": 1,
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
    _, mistakes = loop.run_until_complete(received(GpuNodePool, wrong))
    missing = {"resourceGroupName", "vmSize"}
    assert paths(mistakes) == sorted((wrong.keys() | missing | {"labels.a"}) - {"labels"})
    assert "hunter2" not in str(mistakes)


@pytest.mark.usefixtures("loop")
def test_what_rules_refuse_is_reported_with_what_cannot_be_read() -> None:
    wrong = POOL | {"poolName": "Train", "count": "two", "sharing": "no", "extra": "none"}
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        PACKAGE.construct("train", "aks-gpu:components:GpuNodePool", wrong)
    # The SDK tells a RunError without the properties.
    assert not isinstance(refused.value, pulumi.RunError)
    found = [error["property_path"] for error in refused.value.errors or ()]
    assert sorted(found) == ["count", "extra", "poolName", "sharing", "vmSize"]


def test_what_azure_refuses_to_look_up_is_left_out(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program failed because its identity may not list a cluster's credentials."""
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, _: warnings.append(text))

    async def states() -> list[Any]:
        refused: pulumi.Output[int] = pulumi.Output.from_input(0).apply(lambda zero: 1 // zero)
        cluster = SimpleNamespace(kubeconfig=refused, identifier=pulumi.Output.secret("a"))
        return [await state_of(or_nothing(cluster, name)) for name in vars(cluster)]

    assert loop.run_until_complete(states()) == [(None, True, False), ("a", True, True)]
    assert paths(warnings) == ["kubeconfig is left out"]


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.just(pulumi.UNKNOWN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["count", "zones", "labels", "gpuStack", "customHeaders", "extra", "other"])


@given(st.dictionaries(names, values, max_size=4))
def test_any_input_is_read_or_refused(given_values: dict[str, Any]) -> None:
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        arguments, _ = PACKAGE.read(GpuNodePool, POOL | given_values)
    assert arguments.vm_size == "s"
