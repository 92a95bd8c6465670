"""Kubeconfigs, and what a change of the provider's arguments comes to."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from provider_kit.values import UNKNOWN
from rehearsal.stand_ins.kubernetes.config_diff import config_diff
from rehearsal.stand_ins.kubernetes.kubeconfig import KubeconfigError, ambient, choose, given


def config(server: str = "https://one", **more: Any) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [
            {"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "n"}},
            {"name": "other", "context": {"cluster": "k2", "user": "u"}},
        ],
        "clusters": [
            {"name": "k", "cluster": {"server": server}},
            {"name": "k2", "cluster": {"server": "https://two"}},
        ],
        "users": [{"name": "u", "user": {"token": "t"}}],
        **more,
    }


def test_contents_and_paths_are_taken_alike(tmp_path: Path) -> None:
    text = yaml.safe_dump(config())
    (tmp_path / "config").write_text(text)

    assert given(text) == given(str(tmp_path / "config")) == config()


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    users = [{"name": "u", "user": {"client-key": "key.pem"}}]
    (tmp_path / "config").write_text(yaml.safe_dump(config(users=users)))

    chosen = choose(given(str(tmp_path / "config")))
    assert chosen.user["client-key"] == str(tmp_path / "key.pem")


def test_the_environment_names_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").write_text(yaml.safe_dump(config()))
    (tmp_path / "two").write_text(yaml.safe_dump(config("https://late") | {"current-context": "x"}))
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/none:{tmp_path}/one:{tmp_path}/two")

    assert choose(ambient()).cluster["server"] == "https://one"


def test_arguments_override_what_the_context_says() -> None:
    assert choose(config()).namespace == "n"
    assert choose(config(), namespace="mine").namespace == "mine"
    assert choose(config(), context="other").cluster["server"] == "https://two"
    assert choose(config(), context="other").namespace == "default"
    assert choose(config(), cluster="k2").cluster["server"] == "https://two"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "neither a kubeconfig nor the path of one"),
        ("/nowhere/secret", "neither a kubeconfig nor the path of one"),
        ("a: [\nsecret: x", "yaml: line "),
        ("a: \x00secret", "yaml: control characters are not allowed"),
        ("{}", "no configuration has been provided"),
        ("current-context: c", 'context "c" does not exist'),
        (
            yaml.safe_dump(config(clusters=[{"name": "k", "cluster": {}}])),
            "cluster has no server defined",
        ),
    ],
)
def test_what_is_wrong_is_told_without_the_content(content: str, said: str) -> None:
    with pytest.raises(KubeconfigError, match=said) as raised:
        choose(given(content))
    assert "secret" not in str(raised.value)


def arguments(server: str = "https://one", **more: Any) -> dict[str, Any]:
    return {"kubeconfig": yaml.safe_dump(config(server)), **more}


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        (arguments(), arguments("https://elsewhere"), ["kubeconfig"]),
        (arguments(), arguments(context="other"), ["context"]),
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
def test_another_cluster_replaces(
    old: dict[str, Any], new: dict[str, Any], replaces: list[str]
) -> None:
    found = config_diff(old, new)

    assert found.replaces == replaces
    assert found.changes


def test_the_same_arguments_are_no_change() -> None:
    assert not config_diff(arguments(), arguments()).changes
