"""What a change of the provider's arguments comes to."""

from typing import Any

import pytest
import yaml

from provider_kit.values import UNKNOWN
from rehearsal.offline_plug_ins.kubernetes.connection import config_diff


def config(server: str = "https://one", **more: Any) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        **more,
    }


def arguments(server: str = "https://one", **more: Any) -> dict[str, Any]:
    return {"kubeconfig": yaml.safe_dump(config(server)), **more}


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        (arguments(), arguments("https://elsewhere"), ["kubeconfig"]),
        (arguments(), arguments(kubeconfig=yaml.safe_dump(config(users=[]))), []),
        (arguments(), arguments(kubeconfig=UNKNOWN), ["kubeconfig"]),
        (arguments(), arguments(namespace="mine"), []),
        (arguments(clusterIdentifier="a"), arguments("https://b", clusterIdentifier="a"), []),
        (
            arguments(clusterIdentifier="a"),
            arguments(clusterIdentifier="b"),
            ["clusterIdentifier"],
        ),
    ],
)
def test_another_cluster_replaces_the_provider(
    old: dict[str, Any], new: dict[str, Any], replaces: list[str]
) -> None:
    answer = config_diff(old, new)

    assert answer.replaces == replaces
    assert answer.changes


def test_the_same_arguments_are_no_change() -> None:
    assert not config_diff(arguments(), arguments()).changes
