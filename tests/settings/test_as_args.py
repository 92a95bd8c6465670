"""What a stack file says reaches the component's argument of the same name."""

from dataclasses import fields
from typing import Any

import pytest

import components as c
from settings import model, pools
from settings.section import Section

PAIRS: list[tuple[type[Section], type[Any]]] = [
    (model.Cluster, c.AksClusterArgs),
    (model.Entra, c.EntraArgs),
    (model.Network, c.NetworkArgs),
    (model.DevicePlugin, c.NvidiaDevicePluginArgs),
    (model.GpuOperator, c.NvidiaGpuOperatorArgs),
    (model.SampleJob, c.SampleJobArgs),
    (pools.SystemPool, c.SystemPoolArgs),
    (pools.SystemNodePool, c.SystemNodePoolArgs),
    (pools.GpuPool, c.GpuNodePoolArgs),
    (pools.TimeSlicing, c.TimeSlicingArgs),
]


@pytest.mark.parametrize(("section", "kind"), PAIRS)
def test_each_key_reaches_the_argument_of_its_name(section: type[Section], kind: type[Any]) -> None:
    """A key that was not copied was valid, and did nothing."""
    given: dict[str, Any] = {name: f"the {name}" for name in section.model_fields}
    arguments = {field.name for field in fields(kind)}
    made = section.model_construct(**given).as_args(kind, **dict.fromkeys(arguments - given.keys()))
    reached = given.keys() & arguments
    assert reached
    assert {name: getattr(made, name) for name in reached} == {n: given[n] for n in reached}


def test_an_empty_text_is_the_components_default() -> None:
    assert model.Network.model_validate({"subnetId": ""}).as_args(c.NetworkArgs).subnet_id is None
    assert model.Network.model_validate({}).as_args(c.NetworkArgs, mode="subnet").mode == "subnet"
