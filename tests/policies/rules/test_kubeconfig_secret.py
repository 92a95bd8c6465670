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
    "contains a kubeconfig with credentials: whoever can read it can access the cluster. Use a "
    "Kubernetes Secret."
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


NO_CREDENTIALS = [
    "REDACTED", "DATA+OMITTED", "TOKEN_PLACEHOLDER_1", "YOUR_TOKEN_V2", "REPLACE_ME_2026", "null",
    "your-token-here", "change me", "~", "***", "xxxx", "''", "", "# to be filled in",
    "!!str ${TOKEN}", "\n      ${TOKEN}", "\n    username: u", "|\n      {{ .Values.token }}",
    "${TOKEN:-abc}", "...", "…", "todo", "none", "placeholder", "example", "token", "my-token",
    "(token)", "{token}", "`cat token`", "'#{TOKEN}#'", "insert token here", "Enter_your_token",
    # As programs fill it in.
    "%s", '"%s"', "%[1]s", "'%(token)s'", "prefix-${TOKEN}", "$TOKEN_${X}", "prefix-$(TOKEN)",
    "kubeconfig-u-{{ .User }}:x", "*anchor",
    # Cut off, or blackened.
    "eyJhbGciOi...", "LS0tLS1CRUd...", "LS0tLS1CRUd...LS0tCg==", "...snip...", "abcdef…",
    "•••••", "-----", "**REDACTED**", "XXX-XXX",
    # Encrypted, or kept elsewhere.
    "ENC[AES256_GCM,data:abc,iv:x]", "!vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      3638",
    "vault:secret/data/k8s#token", "ref+vault://x", "op://vault/x", "env:TOKEN",
    # Words.
    "TOKEN-HERE", "TOKEN HERE", "replaceme", "changeit", "example-token", "base64-encoded-key",
    "yourTokenHere", "CHANGE_ME!", "dummy", "fake_token", "TBD", "n/a", "my_secret.key",
]  # fmt: skip


@pytest.mark.parametrize("key", ["token", "client-key-data", "password"])
@pytest.mark.parametrize("words", NO_CREDENTIALS)
def test_words_are_no_credentials(words: str, key: str) -> None:
    """Charts, documents and encrypted files were refused, by a rule of the highest severity."""
    _passes(WITH_TOKEN.replace("token: TOKEN", f"{key}: {words}"))


WORDS = st.lists(st.from_regex(r"[A-Za-z]{1,12}", fullmatch=True), min_size=2, max_size=5)


@given(words=WORDS, key=st.sampled_from(["token", "id-token", "client-key-data"]))
def test_a_sentence_is_no_token(words: list[str], key: str) -> None:
    """Neither a token nor a key has a blank in it; a password has."""
    value = " ".join(words)
    _passes(WITH_TOKEN.replace("token: TOKEN", f"{key}: {value}"))
    _is_refused_and_sealed(WITH_TOKEN.replace("token: TOKEN", f"password: zb {value}"))


NO_TEMPLATE = st.one_of(
    # Service accounts' and clouds' tokens, keys in base 64, bootstrap tokens.
    st.binary(min_size=12, max_size=60).map(lambda it: base64.urlsafe_b64encode(it).decode()),
    st.binary(min_size=12, max_size=60).map(lambda it: base64.b64encode(it).decode()),
    st.binary(min_size=12, max_size=60).map(bytes.hex),
    st.from_regex(r"eyJ[A-Za-z0-9_-]{20,40}\.[A-Za-z0-9_-]{20,40}\.[\w-]{20}", fullmatch=True),
    st.from_regex(r"[a-z0-9]{6}\.[a-z0-9]{16}", fullmatch=True),
    st.from_regex(r"(my|example|your|the|token|secret)[0-9][A-Za-z0-9]{8,30}", fullmatch=True),
).filter(lambda it: len(set(it)) > 6 and it[0] not in "-_xX" and it.upper() != it)


@given(value=NO_TEMPLATE, quote=st.sampled_from(["", '"', "'"]))
def test_any_generated_credential_is_refused(value: str, quote: str) -> None:
    """What words and signs pass is never what a cluster takes."""
    _is_refused_and_sealed(WITH_TOKEN.replace("TOKEN", f"{quote}{value}{quote}"))


@pytest.mark.parametrize(
    "value", ["&t abc123", '"*hunter2"', "*t\nx: &t abc123", "&t >-\n      abc1"]
)
def test_an_anchor_hides_no_credential(value: str) -> None:
    _is_refused_and_sealed(WITH_TOKEN.replace("TOKEN", value))


def test_an_anchor_of_a_template_has_none() -> None:
    _passes(WITH_TOKEN.replace("TOKEN", "*t\nx: &t ${TOKEN}"))


@pytest.mark.parametrize(
    "value",
    [
        "kubeconfig-u-2xqhd7k5jb:8nsw4xq7", "P@ssw0rd!", "hunter2$", "correct-horse-battery-staple",
        "!!str abc123", "\n      abc123", "|\n      abc123", ">-\n      abc", "x1} # it",
        "hunter-2-here", "my-s3cret", "keyboard", "in-between", "wait...what7", "Password1!",
        "abc123 }]} > /etc/kubeconfig",
    ],
)  # fmt: skip
def test_values_other_than_templates_are_credentials(value: str) -> None:
    _is_refused_and_sealed(WITH_TOKEN.replace("TOKEN", value))


def test_others_have_a_kind_config_too() -> None:
    """Also with users: a program of its own was refused for the password of one."""
    _passes("apiVersion: skaffold/v4beta11\nkind: Config\ndeploy: {token: abc123}\n")
    _passes("apiVersion: acme/v1\nkind: Config\nusers: [{name: a, password: abc123}]\n")


def _passes(text: str) -> None:
    config_map = Resource(type=CONFIG_MAP, properties={"data": {"config": text}})
    assert findings(kubeconfig_secret, config_map) == []


def _is_refused_and_sealed(text: str) -> None:
    config_map = Resource(type=CONFIG_MAP, properties={"data": {"config": text}})
    assert len(findings(kubeconfig_secret, config_map)) == 1
    assert remediated(kubeconfig_secret, config_map) == {"data": {"config": secret(text)}}


def test_a_template_is_sealed_all_the_same() -> None:
    """It harms nobody, and what is no template after all would lie open in the state."""
    made = remediated(
        kubeconfig_secret, Resource(type=PROVIDER, properties={"kubeconfig": WITH_TOKEN})
    )
    assert made == {"kubeconfig": secret(WITH_TOKEN)}


# Passwords with all signs that YAML leaves alone; and words: none has to have a digit in it.
PASSWORDS = st.one_of(
    st.from_regex(r"[a-z0-9][A-Za-z0-9!@$%^&*()_+=.:;~/-]{7,40}[a-z0-9]", fullmatch=True),
    st.from_regex(r"[b-w]{3,8}(-[b-w]{3,8}){2,4}", fullmatch=True),
)


@given(
    password=PASSWORDS.filter(
        lambda text: (
            not text.startswith(
                ("your", "change", "x", "redacted", "insert", "enter", "put", "paste", "replace")
            )
            and "://" not in text
            and len(set(text)) > 2
        )
    ),
    key=st.sampled_from(["token", "password", "client-key-data"]),
    form=st.sampled_from(["%s", '"%s"', "%s  # it", "|\n      %s", "!!str %s", "\n      %s"]),
)
def test_passwords_are_credentials(password: str, key: str, form: str) -> None:
    value = f"{key}: {form % password}"
    _is_refused_and_sealed(WITH_TOKEN.replace("token: TOKEN", value))


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


def test_unknown_values_hide_no_findings() -> None:
    data = {"a": UNKNOWN_STRING_VALUE, "b": KUBECONFIG}
    found = findings(kubeconfig_secret, Resource(type=CONFIG_MAP, properties={"data": data}))
    assert found == [
        f"The ConfigMap's data, under b, {OPEN}",
        "can't run: string value at .data.a can't be known during preview",
    ]
