import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.kubeconfig_secret import kubeconfig_secret
from tests.policies.policy_harness import Resource, findings, remediated, secret

KEY = "bm90IGEga2V5IGF0IGFsbA=="
KUBECONFIG = f"""apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {{server: "https://c.example"}}
users:
- name: u
  user:
    client-key-data: {KEY}
"""
AS_JSON = json.dumps(
    {"apiVersion": "v1", "kind": "Config", "users": [{"name": "u", "user": {"token": "x1"}}]}
)
WITH_TOKEN = KUBECONFIG.replace(f"client-key-data: {KEY}", "token: TOKEN")
# Who uses it signs in by a program: there is nothing to hide in it.
WITHOUT_CREDENTIALS = KUBECONFIG.replace(f"client-key-data: {KEY}", "exec: {command: kubelogin}")
ENCODED = base64.b64encode(KUBECONFIG.encode()).decode()

PROVIDER = "pulumi:providers:kubernetes"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
OPEN = (
    "has a kubeconfig with credentials in it: anybody who may read it gets into the cluster. Put "
    "it into a Secret."
)


@pytest.mark.parametrize(
    ("value", "is_marked"),
    [
        (KUBECONFIG, True),
        (AS_JSON, True),
        (ENCODED, True),
        (json.dumps({"inner": AS_JSON}), True),
        (json.dumps({"inner": AS_JSON.replace('"x1"', '""')}), False),
        (UNKNOWN_STRING_VALUE, True),
        (WITHOUT_CREDENTIALS, False),
        ("~/.kube/config", False),
        (secret(KUBECONFIG), False),
        (secret(UNKNOWN_STRING_VALUE), False),
    ],
)
def test_a_providers_kubeconfig_is_marked(value: Any, is_marked: bool) -> None:
    provider = Resource(type=PROVIDER, properties={"kubeconfig": value, "context": "c"})

    made = remediated(kubeconfig_secret, provider)

    assert made == ({"kubeconfig": secret(value), "context": "c"} if is_marked else None)
    assert findings(kubeconfig_secret, provider) == []


def test_wherever_it_is_among_the_properties() -> None:
    properties = {
        "environment": {"A": "b", "KUBECONFIG_TEXT": KUBECONFIG},
        "list": ["a", {"deep": KUBECONFIG}],
        "known": secret(KUBECONFIG),
        "later": UNKNOWN_STRING_VALUE,
    }
    command = Resource(type="command:local:Command", properties=properties)

    assert remediated(kubeconfig_secret, command) == {
        "environment": {"A": "b", "KUBECONFIG_TEXT": secret(KUBECONFIG)},
        "list": ["a", {"deep": secret(KUBECONFIG)}],
        "known": secret(KUBECONFIG),
        "later": UNKNOWN_STRING_VALUE,
    }


def test_other_secrets_are_left_as_they_are() -> None:
    other = Resource(type="command:local:Command", properties={"a": secret({"b": "c"}), "d": [1]})
    assert remediated(kubeconfig_secret, other) is None


@pytest.mark.parametrize("part", ["data", "binaryData"])
@pytest.mark.parametrize("value", [KUBECONFIG, AS_JSON, ENCODED, secret(KUBECONFIG)])
def test_a_config_map_is_no_place_for_it(part: str, value: Any) -> None:
    config_map = Resource(type=CONFIG_MAP, properties={part: {"a": "b", "config": value}})
    (found,) = findings(kubeconfig_secret, config_map)
    assert found == f"The ConfigMap's {part}, under config, {OPEN}"
    assert KEY not in found


@given(
    placeholder=st.sampled_from(
        ["${%s}", "$%s", "$(%s)", "{{ %s }}", "{{%s}}", "<%s>", "__%s__", "%%%s%%", "@%s@", "[%s]"]
    ),
    name=st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True),
    quote=st.sampled_from(["", '"', "'"]),
)
def test_a_template_has_no_credentials(placeholder: str, name: str, quote: str) -> None:
    """Charts have kubeconfigs in ConfigMaps, in which a script puts the token of its service
    account; they were refused."""
    _passes(WITH_TOKEN.replace("TOKEN", f"{quote}{placeholder % name}{quote}"))


@pytest.mark.parametrize("words", ["REDACTED", "your-token-here", "change me", "***", "xxxx", "''"])
def test_words_are_no_credentials(words: str) -> None:
    _passes(WITH_TOKEN.replace("TOKEN", words))


def test_others_have_a_kind_config_too() -> None:
    _passes("apiVersion: skaffold/v4beta11\nkind: Config\ndeploy: {token: abc123}\n")


def _passes(text: str) -> None:
    config_map = Resource(type=CONFIG_MAP, properties={"data": {"config": text}})
    assert findings(kubeconfig_secret, config_map) == []
    assert remediated(kubeconfig_secret, config_map) is None


@given(
    token=st.binary(min_size=32, max_size=64),
    form=st.sampled_from(["%s", '"%s"', "%s  # it", "|\n      %s"]),
)
def test_random_words_are_credentials(token: bytes, form: str) -> None:
    text = base64.urlsafe_b64encode(b"7" + token).decode() + "7"
    config_map = Resource(
        type=CONFIG_MAP, properties={"data": {"a": WITH_TOKEN.replace("TOKEN", form % text)}}
    )
    assert len(findings(kubeconfig_secret, config_map)) == 1


def test_an_environment_is_no_place_for_it() -> None:
    containers = [
        {"name": "a", "env": [{"name": "PATH", "value": "/bin"}]},
        {"name": "b", "env": [{"name": "K", "value": KUBECONFIG}, {"name": "S", "valueFrom": {}}]},
    ]
    job = Resource(
        type="kubernetes:batch/v1:Job",
        properties={"spec": {"template": {"spec": {"containers": containers}}}},
    )
    assert findings(kubeconfig_secret, job) == [
        f"The environment variable K of containers[1] {OPEN}"
    ]


def test_a_secret_is_the_place_for_it() -> None:
    properties = {"stringData": {"config": KUBECONFIG}}
    assert (
        findings(
            kubeconfig_secret, Resource(type="kubernetes:core/v1:Secret", properties=properties)
        )
        == []
    )


def test_what_is_not_known_yet_hides_nothing() -> None:
    data = {"a": UNKNOWN_STRING_VALUE, "b": KUBECONFIG}
    found = findings(kubeconfig_secret, Resource(type=CONFIG_MAP, properties={"data": data}))
    assert found == [
        f"The ConfigMap's data, under b, {OPEN}",
        "can't run: string value at .data.a can't be known during preview",
    ]
