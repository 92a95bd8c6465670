"""What looks like a secret is masked; what does not is left."""

import base64

import pytest

from aksgpu.review.masking import MASK, clean

KEY = base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\nabcdef").decode()
KUBECONFIG = f"""apiVersion: v1
kind: Config
users:
- name: admin
  user:
    client-key-data: {KEY}
    token: 0123456789abcdef0123456789abcdef
"""
TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (KUBECONFIG, KEY),
        (KUBECONFIG, "0123456789abcdef"),
        (base64.b64encode(KUBECONFIG.encode()).decode(), "YXBpVmVyc2lvb"),
        ("-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----", "MIIabc"),
        ("-----BEGIN EC PRIVATE KEY-----\nMIIcut off", "MIIcut"),
        (f"refused: {TOKEN}", TOKEN),
        ("Authorization: Bearer abcdefgh12345", "abcdefgh12345"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        (base64.b64encode(b'{"apiVersion":"v1","kind":"Config"}').decode(), "eyJhcGlWZXJzaW9u"),
        (base64.b64encode(b'{"kind":"Config","users":[]}').decode(), "eyJraW5kIjoi"),
        ('{"password": "correct horse"}', "correct horse"),
        (r'{"password": "correct\"horse"}', "horse"),
        ("client_secret=a1B2~c3D4", "a1B2~c3D4"),
        ("AccountKey=abc123==;EndpointSuffix", "abc123=="),
        ("https://someone:hunter2@example.com/x", "hunter2"),
    ],
)
def test_a_secret_is_masked(text: str, secret: str) -> None:
    assert secret in text
    shown = clean(text, {})
    assert secret not in shown
    assert MASK in shown


def test_what_the_environment_holds_in_secret_is_masked() -> None:
    environment = {
        "ARM_CLIENT_SECRET": "xyzzy-42",
        "PULUMI_CONFIG_PASSPHRASE": "rehearsal",
        "PATH": "/usr/bin",
        "GITHUB_TOKEN": "short",
    }
    assert clean("xyzzy-42 rehearsal /usr/bin short", environment) == (
        f"{MASK} {MASK} /usr/bin short"
    )


@pytest.mark.parametrize(
    "text",
    [
        "This pool has the GPU size Standard_NC8as_T4_v3 and runs Windows.",
        "gpuPools[0].vmSize: 'x' is no GPU size: take one such as Standard_NC24ads_A100_v4",
        "the password: it is required",
        "urn:pulumi:dev::aks-gpu::azure-native:containerservice:AgentPool::gpu",
        "string value at .osType can't be known during preview",
    ],
)
def test_ordinary_words_are_left(text: str) -> None:
    assert clean(text, {}) == text


def test_nothing_rules_the_terminal_or_turns_letters_around() -> None:
    assert clean("a\x1b[31mred\x1b[0m\x07\u202eb\u200b\nc\td", {}) == "aredb\nc\td"
