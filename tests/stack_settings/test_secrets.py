"""Secrets in a stack file: headers, `extra` and the operator's values stay secret; others are
refused by their keys."""

import json
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stack_settings.model import Settings
from stack_settings.reading import SettingsError, load
from stack_settings.secrets import Secrets, is_kept, top_key

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
EXTRA = {"messageOfTheDay": "hunter2"}
TEAM = {"X-Team": "hunter2"}
RUNG = {**POOL, "name": "rung", "maxCount": 2}


class Secret(NamedTuple):
    """What a text is made to, in place of a Pulumi secret."""

    text: str


def read(key: str, value: Any, *written: str, warnings: list[str] | None = None) -> Settings:
    """A stack in which one key has a secret, at these places in its file."""
    found = warnings if warnings is not None else []
    text = value if isinstance(value, str) else json.dumps(value)
    secrets = Secrets(Secret, [key], written, found.append)
    return load({f"aks-gpu:{key}": text}, "test", pytest.fail, secrets)


def refusal(key: str, value: Any, *written: str) -> str:
    with pytest.raises(SettingsError) as refused:
        read(key, value, *written)
    return str(refused.value)


def secrets_in(value: Any) -> set[str]:
    if isinstance(value, Secret):
        return {value.text}
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    values = value.values() if isinstance(value, dict) else value
    is_container = isinstance(value, dict | list | tuple)
    return {text for each in values for text in secrets_in(each)} if is_container else set()


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("cluster", {"extra": {"fqdnSubdomain": "hunter2"}}, "cluster.extra.fqdnSubdomain"),
        ("gpuPools", [{**POOL, "extra": EXTRA}], "gpuPools[0].extra.messageOfTheDay"),
        (
            "gpuPools",
            [{**POOL, "customHeaders": TEAM}],
            "gpuPools[0].customHeaders.X-Team",
        ),
        ("pools", [{"name": "cpu", "extra": EXTRA}], "pools[0].extra.messageOfTheDay"),
        ("systemPool", {"customHeaders": "X-Team=hunter2"}, "systemPool.customHeaders"),
        ("gpuOperator", {"values": {"a": [{"b": "hunter2"}]}}, "gpuOperator.values.a[0].b"),
        (
            "gpuCapacity",
            [{"name": "c", "rungs": [{**RUNG, "customHeaders": TEAM}]}],
            "gpuCapacity[0].rungs[0].customHeaders.X-Team",
        ),
    ],
)
def test_what_can_be_secret_stays_secret(key: str, value: Any, path: str) -> None:
    """It went in clear to the state, and to every diff."""
    stack = read(key, value, path)
    assert "hunter2" in secrets_in(stack)
    # AKS repeats the pools in the cluster's outputs, which the engine keeps secret for this.
    assert ("Ubuntu" in secrets_in(stack)) == (key in ("gpuCapacity", "gpuPools", "pools"))
    warnings: list[str] = []
    assert "hunter2" in secrets_in(read(key, value, warnings=warnings))
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("location", "Hunter2!", "location"),
        ("tags", {"team": "Hunter2!"}, "tags.team"),
        ("network", {"podCidr": "Hunter2!"}, "network.podCidr"),
        ("gpuPools", [{**POOL, "name": "Hunter2!"}], "gpuPools[0].name"),
        ("gpuPools", [{**POOL, "labels": {"team": "Hunter2!"}}], "gpuPools[0].labels.team"),
    ],
)
def test_another_secret_is_refused_by_its_key_alone(key: str, value: Any, path: str) -> None:
    only = "(only customHeaders, extra and gpuOperator.values can)"
    assert (
        refusal(key, value, path)
        == f"{path}: cannot be a secret {only}: set it again without --secret"
    )


def test_mistakes_beside_a_secret_are_told_as_ever() -> None:
    pools = [{**POOL, "customHeaders": {"X-Team": "hunter2", "a b": "c"}, "name": "GPU"}]
    lines = refusal("gpuPools", pools, "gpuPools[0].customHeaders.X-Team").splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "gpuPools[0].name",
        'gpuPools[0].customHeaders["a b"]',
    ]
    assert "hidden" not in "".join(lines)


@pytest.mark.parametrize(
    ("key", "value", "path", "reason"),
    [
        ("cluster", {"customHeaders": TEAM}, "cluster.customHeaders", "is not a key"),
        ("pools", [{"name": "cpu", "customHeadres": TEAM}], "pools[0].customHeadres", "is not a"),
        ("gpuPools", [{**POOL, "customHeadres": TEAM}], "gpuPools[0].customHeadres", "did you me"),
        ("gpuPools", [{**POOL, "extar": "hunter2"}], "gpuPools[0].extar", "did you mean extra?"),
        ("gpuPols", "hunter2", "gpuPols", "is not a key of a stack file: did you mean gpuPools?"),
        ("gpuPools", [{**POOL, "extra": {"count": "hunter2"}}], "gpuPools[0].extra.count", "is th"),
        ("gpuPools", [{**POOL, "extra": {"mode": "hunter2"}}], "gpuPools[0].extra.mode", "is fix"),
        ("gpuPools", [{**POOL, "extra": {"cuont": "hunter2"}}], "gpuPools[0].extra.cuont", "is n"),
    ],
)
def test_a_mistake_about_a_key_is_told_beside_its_secret(
    key: str, value: Any, path: str, reason: str
) -> None:
    """It was hidden, or the advice was to commit the token in clear."""
    place = f"{path}.X-Team" if path.endswith(("Headers", "Headres")) else path
    for written in ([place], []) if isinstance(value, list | dict) else [[place]]:
        message = refusal(key, value, *written)
        assert message.startswith(f"{path}: ")
        assert reason in message
        assert len(message.splitlines()) == 1
        assert "hunter2" not in message
        assert "secret" not in message


@pytest.mark.parametrize(
    ("keys", "secret"),
    [
        (
            {
                "gpuStack": "operator",
                "gpuOperator": {"driver": "operator"},
                "gpuPools": [
                    {"name": "a", "vmSize": "Standard_NC24ads_A100_v4", "migProfile": "MIG1g"}
                ],
            },
            "gpuPools[0].migProfile",
        ),
        (
            {
                "cluster": {"kubernetesVersion": "1.35"},
                "gpuPools": [{**POOL, "kubernetesVersion": "1.36"}],
            },
            "cluster.kubernetesVersion",
        ),
        ({"gpuPools": [{**POOL, "minCount": 77, "maxCount": 2}]}, "gpuPools[0].minCount"),
    ],
)
def test_a_mistake_at_another_key_does_not_repeat_a_secret(
    keys: dict[str, Any], secret: str
) -> None:
    texts = {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in keys.items()
    }
    with pytest.raises(SettingsError) as refused:
        load(texts, "test", pytest.fail, Secrets(Secret, [top_key(secret)], [secret]))
    assert [mistake.path for mistake in refused.value.mistakes] == [secret]


@settings(deadline=None)
@given(
    st.sampled_from(
        ["extra", "customHeaders", "customHeadres", "name", "vmSize", "labels", "minCount"]
    ),
    st.text(st.characters(codec="ascii"), min_size=1),
    st.booleans(),
)
def test_no_message_repeats_a_secret(inner: str, text: str, is_written: bool) -> None:
    secret = f"s3cr{text}t"
    path = f"gpuPools[0].{inner}"
    for value in (secret, [secret], {"a": secret}, {"a": {"b": [secret]}}, f"a={secret}"):
        message = ""
        try:
            read("gpuPools", [{**POOL, inner: value}], *[path] * is_written)
        except SettingsError as error:
            message = str(error)
        assert "s3cr" not in message


def test_paths_of_values_that_may_be_secret_are_recognized() -> None:
    for path in ("pools[3].extra", "cluster.extra.a.b", "systemPool.customHeaders.X"):
        assert is_kept(path), path
    for path in ("tags", "tags.extra", "gpuPools[0].extras", "gpuPools[0].labels.extra"):
        assert not is_kept(path), path
