import base64
import json
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.kubeconfig_secret import kubeconfig_secret
from tests.policies.policy_harness import Resource, findings, remediated, secret

KUBECONFIG = """apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "https://c.example"}
users:
- name: u
  user:
    client-key-data: bm90IGEga2V5IGF0IGFsbA==
"""
AS_JSON = json.dumps(
    {"apiVersion": "v1", "kind": "Config", "users": [{"name": "u", "user": {"token": "x1"}}]}
)
ENCODED = base64.b64encode(KUBECONFIG.encode()).decode()
PROVIDER = "pulumi:providers:kubernetes"


def with_user(user: str) -> str:
    return KUBECONFIG.replace("client-key-data: bm90IGEga2V5IGF0IGFsbA==", user)


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
        # Who uses it signs in by a program: there is nothing to hide in it.
        (with_user("exec: {command: kubelogin}"), False),
        (with_user("token: ''"), False),
        ("~/.kube/config", False),
        ("kind: Config, users: [", False),
        ("---\nkind: Config\nusers: {}\n", False),
        # Others have a kind Config too.
        ("apiVersion: acme/v1\nkind: Config\nusers: [{user: {password: abc123}}]\n", False),
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
        "other": secret({"b": "c"}),
        "later": UNKNOWN_STRING_VALUE,
    }
    command = Resource(type="command:local:Command", properties=properties)

    assert remediated(kubeconfig_secret, command) == {
        **properties,
        "environment": {"A": "b", "KUBECONFIG_TEXT": secret(KUBECONFIG)},
        "list": ["a", {"deep": secret(KUBECONFIG)}],
    }


CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
OPEN = (
    "contains a kubeconfig with credentials: whoever can read it can access the cluster. Use a "
    "Kubernetes Secret."
)


@pytest.mark.parametrize("part", ["data", "binaryData"])
@pytest.mark.parametrize(
    "value",
    [
        KUBECONFIG,
        AS_JSON,
        ENCODED,
        secret(KUBECONFIG),
        with_user("client-key-data: |\n      a1\n      b2"),
    ],
)
def test_a_config_map_is_no_place_for_it(part: str, value: Any) -> None:
    data = {"a": "b", "unknown": UNKNOWN_STRING_VALUE, "config": value}
    found = findings(kubeconfig_secret, Resource(type=CONFIG_MAP, properties={part: data}))
    assert found[0] == f"The ConfigMap's {part}, under config, {OPEN}"


@pytest.mark.parametrize(
    "value",
    [
        "${TOKEN_1}",
        "'{{ .Values.token1 }}'",
        "<token1>",
        "__token1__",
        "REDACTED",
        "eyJhb1...",
        "''",
    ],
)
def test_a_template_in_one_is_not_refused(value: str) -> None:
    """Charts have kubeconfigs in ConfigMaps, in which a script puts the token of its service
    account; they were refused."""
    properties = {"data": {"config": with_user(f"token: {value}")}}
    assert findings(kubeconfig_secret, Resource(type=CONFIG_MAP, properties=properties)) == []


def test_an_environment_is_no_place_for_it() -> None:
    containers = [
        # A value that is not known hides no finding of another one.
        {"name": "a", "env": [{"name": "PATH", "value": UNKNOWN_STRING_VALUE}]},
        {"name": "b", "env": [{"name": "K", "value": KUBECONFIG}, {"name": "S", "valueFrom": {}}]},
    ]
    job = Resource(
        type="kubernetes:batch/v1:Job",
        properties={"spec": {"template": {"spec": {"containers": containers}}}},
    )
    assert findings(kubeconfig_secret, job)[0] == f"The environment variable K of b {OPEN}"
