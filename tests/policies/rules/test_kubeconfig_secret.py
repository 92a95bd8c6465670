import base64
import json
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.kubeconfig_secret import kubeconfig_secret
from tests.policies.gpu_stacks import not_known
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
# Who uses it signs in by a program: there is nothing to hide in it.
WITHOUT_CREDENTIALS = KUBECONFIG.replace(f"client-key-data: {KEY}", "exec: {command: kubelogin}")
ENCODED = base64.b64encode(KUBECONFIG.encode()).decode()

PROVIDER = "pulumi:providers:kubernetes"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
OPEN = (
    "contains a kubeconfig with credentials: whoever can read it can access the cluster. Use a "
    "Kubernetes Secret."
)


def with_user(user: str) -> str:
    return KUBECONFIG.replace(f"client-key-data: {KEY}", user)


@pytest.mark.parametrize(
    ("value", "is_marked"),
    [
        (KUBECONFIG, True),
        (AS_JSON, True),
        (ENCODED, True),
        # A template harms nobody, and what is none after all would lie open in the state.
        (with_user("token: ${TOKEN}"), True),
        (with_user("auth-provider: {config: {id-token: x1}}"), True),
        (UNKNOWN_STRING_VALUE, True),
        (WITHOUT_CREDENTIALS, False),
        ("~/.kube/config", False),
        ("kind: Config, users: [", False),
        ("---\nkind: Config\nusers: {}\n", False),
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


def test_other_secrets_do_not_change() -> None:
    other = Resource(type="command:local:Command", properties={"a": secret({"b": "c"}), "d": [1]})
    assert remediated(kubeconfig_secret, other) is None


@pytest.mark.parametrize("part", ["data", "binaryData"])
@pytest.mark.parametrize("value", [KUBECONFIG, AS_JSON, ENCODED, secret(KUBECONFIG)])
def test_a_config_map_is_no_place_for_it(part: str, value: Any) -> None:
    config_map = Resource(type=CONFIG_MAP, properties={part: {"a": "b", "config": value}})
    (found,) = findings(kubeconfig_secret, config_map)
    assert found == f"The ConfigMap's {part}, under config, {OPEN}"
    assert KEY not in found


def refused(user: str) -> bool:
    properties = {"data": {"config": with_user(user)}}
    return bool(findings(kubeconfig_secret, Resource(type=CONFIG_MAP, properties=properties)))


@pytest.mark.parametrize(
    "value",
    [
        "${TOKEN_1}", "$TOKEN1", "$(TOKEN_1a)", "'{{ .Values.token1 }}'", "{{ .Values.token1 }}",
        "<token1>", "__token1__", "'%TOKEN1a%'", "'@token1@'", "[token1]", "prefix-${TOKEN_1}",
        "REDACTED", "TOKEN_PLACEHOLDER_1", "your-token-here", "change me", "~", "''", "null",
        "# to be filled in", "eyJhbGciOi1...", "vault://secret/data/k8s1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["token", "client-key-data", "password"])
def test_a_template_has_no_credentials(key: str, value: str) -> None:
    """Charts have kubeconfigs in ConfigMaps, in which a script puts the token of its service
    account; they were refused."""
    assert not refused(f"{key}: {value}")


@pytest.mark.parametrize(
    "value",
    [
        "kubeconfig-u-2xqhd7k5jb:8nsw4xq7", "P@ssw0rd!", "hunter2$", "eyJhbGciOiJSUzI1NiJ9.e30.x_Y",
        "abcdef.0123456789abcdef", "!!str abc123", "\n      abc123", "|\n      abc123", "&t abc123",
        '"abc123"', "x1  # it",
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["token", "client-key-data", "password"])
def test_other_values_are_credentials(key: str, value: str) -> None:
    assert refused(f"{key}: {value}")


def test_others_have_a_kind_config_too() -> None:
    """Also with users: a program of its own was refused for the password of one."""
    for text in (
        "apiVersion: skaffold/v4beta11\nkind: Config\ndeploy: {token: abc123}\n",
        "apiVersion: acme/v1\nkind: Config\nusers: [{name: a, user: {password: abc123}}]\n",
    ):
        config_map = Resource(type=CONFIG_MAP, properties={"data": {"config": text}})
        assert findings(kubeconfig_secret, config_map) == []


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
    kept = Resource(
        type="kubernetes:core/v1:Secret", properties={"stringData": {"config": KUBECONFIG}}
    )
    assert findings(kubeconfig_secret, kept) == []


def test_unknown_values_hide_no_findings() -> None:
    data = {"a": UNKNOWN_STRING_VALUE, "b": KUBECONFIG}
    found = findings(kubeconfig_secret, Resource(type=CONFIG_MAP, properties={"data": data}))
    assert found == [
        f"The ConfigMap's data, under b, {OPEN}",
        not_known("string value at .data.a", "gpu", CONFIG_MAP),
    ]
