import base64
import json
from typing import Any

import pytest
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
    {"apiVersion": "v1", "kind": "Config", "users": [{"name": "u", "user": {"token": "x"}}]}
)
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
        (json.dumps({"inner": AS_JSON.replace('"x"', '""')}), False),
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
