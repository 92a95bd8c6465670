"""Kubeconfigs: what they choose, how they are written, and what is wrong with them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from kube_client.kubeconfig import Files, KubeconfigError, choose, connect, parse, read, written


def config(server: str = "https://one", **more: Any) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [
            {"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "n"}},
            {"name": "other", "context": {"cluster": "k2", "user": "nobody"}},
        ],
        "clusters": [
            {"name": "k", "cluster": {"server": server}},
            {"name": "k2", "cluster": {"server": "https://two"}},
        ],
        "users": [{"name": "u", "user": {"token": "t"}}],
        **more,
    }


def test_the_current_context_is_chosen() -> None:
    chosen = choose(config())
    assert (chosen.cluster, chosen.user) == ({"server": "https://one"}, {"token": "t"})
    assert chosen.namespace == "n"
    assert choose(config(), namespace="mine").namespace == "mine"

    other = choose(config() | {"current-context": "other"})
    assert (other.cluster, other.user) == ({"server": "https://two"}, {})
    assert other.namespace == "default"


@pytest.mark.parametrize("embeds_files", [False, True])
def test_a_written_kubeconfig_can_be_read(tmp_path: Path, *, embeds_files: bool) -> None:
    for name in ("ca", "own", "key"):
        (tmp_path / name).write_text(f"the {name}")
    files = Files(tmp_path / "ca", tmp_path / "own", tmp_path / "key")

    text = written(
        "https://one", files, cluster="k", user="u", context="c", embeds_files=embeds_files
    )
    (tmp_path / "config").write_text(text)

    chosen = choose(read(tmp_path / "config"))
    assert chosen.cluster["server"] == "https://one"
    if embeds_files:
        assert chosen.user["client-key-data"] == "dGhlIGtleQ=="
        assert str(tmp_path) not in text
    else:
        assert chosen.user["client-key"] == str(tmp_path / "key")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is not a kubeconfig"),
        ("/nowhere/secret", "it is not a kubeconfig"),
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
def test_mistakes_are_reported_without_the_content(content: str, message: str) -> None:
    with pytest.raises(KubeconfigError, match=message) as raised:
        choose(parse(content))
    assert "secret" not in str(raised.value)


EXEC = {"command": "true", "apiVersion": "v1"}


@pytest.mark.parametrize(
    ("kind", "part", "reason"),
    [
        (
            "cluster",
            {"server": "https://127.0.0.1:1", "certificate-authority": 1},
            "it is not a kubeconfig",
        ),
        ("user", {"client-key": {"a": 1}}, "it is not a kubeconfig"),
        ("user", {"exec": EXEC | {"env": [{"name": "A=", "value": "x"}]}}, "exec is malformed"),
        ("user", {"exec": EXEC | {"command": "a\0b"}}, "exec is malformed"),
    ],
)
def test_parts_of_the_wrong_shape_are_refused(
    tmp_path: Path, kind: str, part: dict[str, Any], reason: str
) -> None:
    """A file that was named by a number, and a variable that was one, were tracebacks."""
    parts = {"cluster": {"server": "https://127.0.0.1:1"}, "user": {}} | {kind: part}
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        **{f"{name}s": [{"name": "c", name: content}] for name, content in parts.items()},
    }
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))

    with pytest.raises(KubeconfigError, match=reason):
        asyncio.run(connect(choose(read(file))))
