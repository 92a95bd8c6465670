"""What programs import of the provider."""

import subprocess
import sys
from collections.abc import Callable
from unittest import mock

import pulumi
import pytest

from aks_preview.resources import AgentPool, FeatureRegistration, ManagedCluster
from tests.bench import ROOT

Make = Callable[[pulumi.ResourceOptions | None], object]
CLASSES: list[Make] = [
    lambda opts: AgentPool("a", {}, opts),
    lambda opts: ManagedCluster("a", {}, opts),
    lambda opts: FeatureRegistration("a", provider_namespace="A", feature_name="B", opts=opts),
]


def test_a_program_loads_neither_azure_nor_a_server() -> None:
    code = (
        "import sys; import pulumi; before = set(sys.modules); import aks_preview.resources;"
        "more = set(sys.modules) - before;"
        "print([name for name in more if not name.startswith(('aks_preview', 'aks_catalogue'))])"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize(
    ("opts", "expected"),
    [(None, True), (pulumi.ResourceOptions(delete_before_replace=False), False)],
)
def test_a_resource_is_deleted_before_it_is_replaced_unless_its_options_differ(
    make: Make, opts: pulumi.ResourceOptions | None, expected: bool
) -> None:
    """The engine asks for no Diff of a tainted resource, and created before it deleted."""
    with mock.patch.object(pulumi.CustomResource, "__init__") as registered:
        make(opts)

    assert registered.call_args.args[-1].delete_before_replace is expected
