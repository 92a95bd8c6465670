"""Secrets in a stack file: each setting stays one, or is refused as one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stack_settings.model import Settings
from stack_settings.reading import SettingsError, load
from stack_settings.secrets import KEPT, MASK, Secrets, is_kept
from stack_settings.section import Section

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
# A legal value of each setting that can be a secret, with what is secret of it.
KEPT_VALUES: dict[str, tuple[Any, set[str]]] = {
    "cluster.authorizedIpRanges": (["20.40.60.0/24"], {"20.40.60.0/24"}),
    "cluster.extra": ({"httpProxyConfig": {"trustedCa": "hunter2"}}, {"hunter2"}),
    "pools[].extra": ({"messageOfTheDay": "hunter2"}, {"hunter2"}),
    "pools[].labels": ({"team": "hunter2"}, {"hunter2"}),
    "pools[].taints": (["a=b:NoSchedule"], {"a=b:NoSchedule"}),
    "systemPools[].extra": ({"messageOfTheDay": "hunter2"}, {"hunter2"}),
    "gpuCapacity[].rungs[].customHeaders": ({"X-Team": "hunter2"}, {"hunter2"}),
    "gpuCapacity[].rungs[].extra": ({"messageOfTheDay": "hunter2"}, {"hunter2"}),
    "gpuCapacity[].rungs[].taints": (["a=b:NoSchedule"], {"a=b:NoSchedule"}),
    "gpuPools[].extra": ({"messageOfTheDay": "hunter2"}, {"hunter2"}),
    "systemPool.extra": ({"messageOfTheDay": "hunter2"}, {"hunter2"}),
    "devicePlugin.image": ("registry/plugin:1", {"registry/plugin:1"}),
    "gpuPools[].customHeaders": ({"X-Team": "hunter2"}, {"hunter2"}),
    "gpuPools[].labels": ({"team": "hunter2"}, {"hunter2"}),
    "gpuPools[].taints": (["a=b:NoSchedule"], {"a=b:NoSchedule"}),
    "network.dnsServiceIp": ("10.8.0.10", {"10.8.0.10"}),
    "network.podCidr": ("10.9.0.0/16", {"10.9.0.0/16"}),
    "network.serviceCidr": ("10.8.0.0/16", {"10.8.0.0/16"}),
    "network.subnetId": (
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
        {
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
        },
    ),
    "sampleJob.image": ("registry/job:1", {"registry/job:1"}),
    "systemPool.customHeaders": ("X-Team=hunter2", {"hunter2"}),
    "tags": ({"team": "hunter2"}, {"hunter2"}),
}


@dataclass(frozen=True)
class Secret:
    """What a text is made to, in place of a Pulumi secret."""

    text: str


def leaves(section: type[Section], path: str = "") -> Iterator[str]:
    """The paths of all settings."""
    for field in section.model_fields.values():
        own = f"{path}.{field.alias}" if path else str(field.alias)
        (kind, *_) = get_args(field.annotation) or (field.annotation,)
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from leaves(kind, f"{own}[]" if field.annotation != kind else own)
        else:
            yield own


def configuration(path: str, value: Any) -> dict[str, str]:
    """A stack that says one thing."""
    key, *inner = path.replace("[]", "").split(".")
    settings: dict[str, Any] = {"gpuPools": [POOL]}
    of_others = {"pools": {"name": "cpu"}, "systemPools": {"name": "more"}}
    if not inner:
        settings[key] = value
    elif key == "gpuPools":
        settings[key] = [POOL | {inner[0]: value}]
    elif key == "gpuCapacity":
        rung = {**POOL, "name": "rung", "maxCount": 2}
        capacity = {"name": "c", "rungs": [rung]}
        if inner[0] == "rungs" and inner[1:]:
            capacity["rungs"] = [rung | {inner[1]: value}]
        else:
            capacity[inner[0]] = value
        settings[key] = [capacity]
    elif key in of_others:
        settings[key] = [of_others[key] | {inner[0]: value}]
    else:
        settings[key] = {inner[0]: value}
    # Of the two, neither can be said alone.
    partner = {"dnsServiceIp": "10.8.0.10", "serviceCidr": "10.8.0.0/16"}
    if inner and inner[0] in partner:
        settings["network"] = partner | settings["network"]
    return {
        f"aks-gpu:{name}": member if isinstance(member, str) else json.dumps(member)
        for name, member in settings.items()
    }


def read(config: dict[str, str], path: str, *, written: bool = True) -> Settings:
    key = path.partition(".")[0].removesuffix("[]")
    place = f"aks-gpu:{path.replace('[]', '[0]')}"
    return load(config, "test", pytest.fail, Secrets(Secret, [f"aks-gpu:{key}"], [place] * written))


def secrets_in(value: Any) -> set[str]:
    match value:
        case Secret():
            return {value.text}
        case Section():
            return {
                text
                for name in type(value).model_fields
                for text in secrets_in(getattr(value, name))
            }
        case dict():
            return {text for member in value.values() for text in secrets_in(member)}
        case list():
            return {text for item in value for text in secrets_in(item)}
        case _:
            return set()


def test_the_table_has_every_setting() -> None:
    assert KEPT_VALUES.keys() == KEPT
    assert set(leaves(Settings)) > KEPT


@pytest.mark.parametrize("path", sorted(KEPT))
def test_secret_settings_stay_secret(path: str) -> None:
    """It went in clear to the state, and to every diff."""
    value, secret = KEPT_VALUES[path]
    assert secret <= secrets_in(read(configuration(path, value), path))
    assert secrets_in(load(configuration(path, value), "test", pytest.fail)) == set()


@pytest.mark.parametrize("path", sorted(set(leaves(Settings)) - KEPT))
def test_settings_that_cannot_be_secret_are_refused(path: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(configuration(path, "x"), path)
    assert f"{path.replace('[]', '[0]')}: cannot be a secret" in str(refused.value)


@pytest.mark.parametrize("path", ["gpuPools[].labels", "tags"])
def test_a_secret_inline_pool_makes_the_list_of_pools_secret(path: str) -> None:
    stack = read(configuration(path, KEPT_VALUES[path][0]), path)
    assert secrets_in(stack.system_pool) == {"Ubuntu"}


def test_a_secret_at_an_unknown_path_is_kept_or_refused() -> None:
    """It comes from an environment, or the engine was given another file."""
    config = configuration("gpuPools[].labels", {"team": "hunter2"})
    warnings: list[str] = []
    secrets = Secrets(Secret, ["aks-gpu:gpuPools"], warn=warnings.append)
    stack = load(config, "test", pytest.fail, secrets)

    assert secrets_in(stack.gpu_pools) == {"hunter2"}
    assert len(warnings) == 1
    with pytest.raises(SettingsError, match="location: cannot be a secret"):
        load(
            {"aks-gpu:location": "eastus"},
            "test",
            pytest.fail,
            Secrets(Secret, ["aks-gpu:location"]),
        )


def refusal(config: dict[str, str], path: str, *, written: bool = True) -> str:
    try:
        read(config, path, written=written)
    except SettingsError as error:
        return str(error)
    return ""


QUOTES = """O'Brien A"b\\ """


@settings(deadline=None)
@given(
    path=st.sampled_from(sorted(leaves(Settings))),
    text=st.text(st.characters(codec="ascii"), min_size=5),
    written=st.booleans(),
)
@example(path="gpuPools[].name", text="Hunter2!", written=True)
@example(path="tags", text=QUOTES, written=True)
@example(path="systemPool.customHeaders", text=f"{QUOTES},{QUOTES}", written=True)
@example(path="systemPool.customHeaders", text="000= ", written=False)
@example(path="systemPool.customHeaders", text="0 0=0", written=True)
@example(path="gpuCapacity[].rungs[].minCount", text="000\x1f\x7f", written=False)
def test_no_message_repeats_a_secret(path: str, text: str, written: bool) -> None:
    """`gpuPools[0].name: 'Hunter2!' is no name for a pool`; and so did what quotes broke."""
    secret = f"s3cr{text}t"
    shapes: tuple[Any, ...] = (
        secret,
        [secret],
        {"a": secret},
        {"a": {"b": [secret]}},
        f'{{"a": "{secret}"',
        f"a={secret}",
    )
    for value in shapes:
        message = refusal(configuration(path, value), path, written=written)
        for form in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], "s3cr"):
            assert form not in message


@pytest.mark.parametrize("inner", ["name", "vmSize"])
def test_no_message_of_another_setting_repeats_a_refused_secret(inner: str) -> None:
    pool = POOL | {inner: "Hunter2!", "migProfile": "MIG1g"}
    config = {"aks-gpu:gpuPools": json.dumps([pool, pool])}
    config["aks-gpu:sampleJob"] = json.dumps({"pool": "none"})
    message = refusal(config, f"gpuPools[].{inner}")
    assert f"gpuPools[0].{inner}: cannot be a secret" in message
    assert "Hunter2" not in message


@pytest.mark.parametrize("secret", ["1", "e"])
def test_a_short_secret_does_not_mangle_a_refusal(secret: str) -> None:
    config = configuration("tags", {"a": secret, "b": {"c": 1}})
    assert refusal(config, "tags") == 'tags.b: must be a string, not {"c": [secret]}'
    config = configuration("gpuPools[].labels", {"a": secret}) | {"aks-gpu:location": "[1]"}
    assert refusal(config, "gpuPools[].labels").startswith("location: must be a str")


def test_paths_of_settings_that_may_be_secret_are_recognized() -> None:
    assert is_kept("gpuPools[3].labels.example.org/team")
    assert is_kept("tags")
    assert not is_kept("gpuPools[3].labelsOfMine")
    assert not is_kept("gpuPools[0]")
    assert MASK == "[secret]"
