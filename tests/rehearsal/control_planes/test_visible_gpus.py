"""What a container sees of its node's GPUs, by the rules of NVIDIA's container runtime.

Read in nvidia-container-toolkit v1.19.1 (internal/config/image), in the kubelet, which puts the
variables of the pod's spec after those of the device plugin, and in containerd, for which the last
one counts.
"""

from typing import Any

import pytest

from rehearsal.control_planes import visible_gpus
from rehearsal.control_planes.desired_state import DesiredPool

Json = dict[str, Any]
POOL = DesiredPool(
    id="p",
    name="gpu",
    vm_size="Standard_NC64as_T4_v3",
    count=1,
    version="1.36.1",
    has_driver=True,
)
NAME = "NVIDIA_VISIBLE_DEVICES"


def seen(
    container: Json | None = None,
    *,
    named: str | None = None,
    pool: DesiredPool = POOL,
    by_aks: bool = True,
    **spec: Any,
) -> int:
    environment = {} if named is None else {NAME: named}
    return visible_gpus.seen({"spec": spec}, container or {}, environment, pool, by_aks=by_aks)


def asking(count: object, name: str = "nvidia.com/gpu") -> Json:
    return {"resources": {"limits": {name: count}}}


def test_who_asks_for_nothing_sees_all_gpus() -> None:
    """The image says so: each one with CUDA sets the variable to `all`."""
    assert seen() == 4


def test_who_asks_for_some_sees_as_many() -> None:
    assert seen(asking("2")) == 2
    assert seen(asking(1, "nvidia.com/gpu.shared")) == 1
    # Many shares of four GPUs are four GPUs.
    assert seen(asking("1k")) == 4


def test_who_asks_for_none_by_name_sees_all_gpus() -> None:
    """A request of zero reaches no device plugin, which could say otherwise."""
    assert seen(asking(0)) == 4
    assert seen(asking("0")) == 4


@pytest.mark.parametrize(
    ("named", "gpus"),
    [
        ("all", 4),
        ("void", 0),
        ("none", 0),
        ("", 0),
        ("void,all", 0),
        ("0", 1),
        ("0, 2", 2),
        ("GPU-5d2c", 1),
    ],
)
def test_a_value_by_hand_wins(named: str, gpus: int) -> None:
    """Also over the device plugin's: who asks for one GPU and names all has all."""
    assert seen(named=named) == gpus
    assert seen(asking(1), named=named) == gpus


def test_a_privileged_container_has_all_devices_of_its_node() -> None:
    privileged = {"securityContext": {"privileged": True}}
    assert seen(privileged, named="void") == 4


def test_the_operators_runtime_starts_those_that_ask_for_it() -> None:
    assert seen(by_aks=False) == 0
    assert seen(asking(1), by_aks=False) == 1
    assert seen(by_aks=False, runtimeClassName="nvidia") == 4


def test_without_a_driver_nobody_sees_anything() -> None:
    bare = DesiredPool(id="p", name="gpu", vm_size=POOL.vm_size, count=1, version="1.36.1")
    assert seen(pool=bare) == seen(asking(1), pool=bare) == 0
