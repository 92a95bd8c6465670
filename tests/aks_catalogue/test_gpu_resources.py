"""What a node of a pool offers, and by which name."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aks_catalogue import mig
from aks_catalogue.gpu_resources import GpuResource, gpu_resource
from aks_catalogue.images import DEVICE_PLUGIN
from aks_catalogue.mig import PROFILES
from aks_catalogue.sizes import find, gpu_sizes
from components.sharing import TimeSlicingArgs, config_file
from rehearsal.control_planes import gpus
from rehearsal.control_planes.desired_state import DesiredPool
from rehearsal.control_planes.device_plugin import outcome

A100_80, A100_40 = "Standard_NC24ads_A100_v4", "Standard_ND96asr_v4"


@pytest.mark.parametrize(
    ("vm_size", "pool", "name", "per_node"),
    [
        ("Standard_NC8as_T4_v3", {}, "nvidia.com/gpu", 1),
        ("standard_nc64as_t4_v3", {}, "nvidia.com/gpu", 4),
        # A sixth of a GPU is a device.
        ("Standard_NV6ads_A10_v5", {}, "nvidia.com/gpu", 1),
        (A100_80, {"mig_profile": "MIG1g"}, "nvidia.com/gpu", 7),
        (A100_80, {"mig_profile": "MIG1g", "mig_strategy": "mixed"}, "nvidia.com/mig-1g.10gb", 7),
        (A100_40, {"mig_profile": "MIG3g", "mig_strategy": "mixed"}, "nvidia.com/mig-3g.20gb", 16),
        ("Standard_NV8as_v4", {}, "amd.com/gpu", 1),
        ("Standard_NC8as_T4_v9", {}, "nvidia.com/gpu", None),
        ("Standard_NC8as_T4_v9", {"mig_profile": "MIG1g"}, "nvidia.com/gpu", None),
        ("Standard_NC8as_T4_v9", {"mig_profile": "MIG1g", "mig_strategy": "mixed"}, None, None),
    ],
)
def test_a_pool_offers_the_gpu_resource_of_its_settings(
    vm_size: str, pool: dict[str, Any], name: str | None, per_node: int | None
) -> None:
    assert gpu_resource(vm_size, **pool) == GpuResource(name, per_node)


NVIDIAS = sorted(size.name for size in gpu_sizes().values() if size.is_nvidia and size.gpus)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(NVIDIAS),
    st.sampled_from([None, *PROFILES]),
    st.sampled_from([None, "single", "mixed"]),
    st.none() | st.builds(TimeSlicingArgs, replicas=st.integers(2, 64), rename=st.booleans()),
)
def test_a_node_offers_what_its_plugin_finds(
    vm_size: str, profile: str | None, strategy: str | None, slicing: TimeSlicingArgs | None
) -> None:
    """The output that a user builds on, beside the rehearsal's plugin, for every size."""
    pool = DesiredPool(
        id="p",
        name="p",
        vm_size=vm_size,
        count=1,
        version="1.35.2",
        has_driver=True,
        mig_profile=profile,
    )
    environment = {"MIG_STRATEGY": strategy or "single"}
    if slicing:
        environment["CONFIG_FILE"] = "/config.yaml"
    container = {
        "name": "plugin",
        "image": DEVICE_PLUGIN,
        "securityContext": {"privileged": True},
        "env": [{"name": name, "value": value} for name, value in environment.items()],
    }
    files = {"/config.yaml": config_file(slicing)} if slicing else {}
    plugin = outcome(container, gpus.hardware(pool), files.get)
    # No partition with the strategy `mixed` is shared: that is refused.
    assume(not (slicing and profile and strategy == "mixed"))
    size = find(vm_size)
    assume(size is not None and (profile is None or mig.slices(size, profile)))

    resource = gpu_resource(
        vm_size, mig_profile=profile, mig_strategy=strategy, time_slicing=slicing
    )

    assert plugin.offers == {resource.name: resource.per_node}
