"""What is known to be secret is masked, and so are private keys and kubeconfigs."""

import base64
import json
import subprocess
import sys

import pytest

from aksgpu.review.masking import clean
from provider_kit.secrecy import MASK

KEY = base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\nabcdef").decode()
TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl"
KUBECONFIG = f"""apiVersion: v1
kind: Config
users:
- name: admin
  user:
    client-key-data: {KEY}
    token: {TOKEN}
"""


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (KUBECONFIG, KEY),
        (KUBECONFIG, TOKEN),
        (json.dumps({"client-key-data": "abcdefgh01234567"}), "abcdefgh01234567"),
        (json.dumps(json.dumps({"token": TOKEN})), TOKEN),
        (base64.b64encode(KUBECONFIG.encode()).decode(), "YXBpVmVyc2lvb"),
        (base64.b64encode(b'{"apiVersion":"v1","kind":"Config"}').decode(), "eyJhcGlWZXJzaW9u"),
        (base64.b64encode(b'{"kind":"Config","users":[]}').decode(), "eyJraW5kIjoi"),
        (f"unusable: {KEY}", KEY),
        ("-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----", "MIIabc"),
        ("-----BEGIN EC PRIVATE KEY-----\nMIIcut off", "MIIcut"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc", "abc"),
    ],
)
def test_keys_and_kubeconfigs_are_masked(text: str, secret: str) -> None:
    assert secret in text
    shown = clean(text, {})
    assert secret not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    "text",
    [
        "/subscriptions/0/resourceGroups/a/providers/Microsoft.Compute/disks/token-1",
        f"mcr.microsoft.com/aks/fundamental/base@sha256:{'0123456789abcdef' * 4}",
        "urn:pulumi:dev::aks-gpu::azure-native:containerservice:AgentPool::gpu",
        "This pool has the GPU size Standard_NC8as_T4_v3 and runs Windows.",
        "the token: it is required",
        "imagePullSecret: my-registry-cred-1",
        "string value at .osType can't be known during preview",
    ],
)
def test_ordinary_texts_are_not_masked(text: str) -> None:
    assert clean(text, {}) == text


def test_secrets_of_the_environment_are_masked() -> None:
    environment = {
        "ARM_CLIENT_SECRET": 'xyzzy-"42"',
        "PULUMI_CONFIG_PASSPHRASE": "rehearsal",
        "PATH": "/usr/bin",
        "GITHUB_TOKEN": "short",
    }
    secret = environment["ARM_CLIENT_SECRET"]
    text = f"{secret} {json.dumps(secret)} rehearsal /usr/bin short"
    assert clean(text, environment) == f'{MASK} "{MASK}" {MASK} /usr/bin short'


def test_each_line_of_a_secret_is_masked() -> None:
    """A program that refused a key repeated one line of it."""
    environment = {"DEPLOY_KEY": "first-line\nsecond-line\n"}
    assert clean("it says: second-line, first-line", environment) == f"it says: {MASK}, {MASK}"


@pytest.mark.parametrize(
    "name", ["PULUMI_CONFIG_PASSPHRASE_FILE", "SSH_KEY_PATH", "GITHUB_TOKEN_PERMISSIONS"]
)
def test_a_variable_with_the_path_of_a_secret_is_not_masked(name: str) -> None:
    """The path was masked in the error that says that there is no such file."""
    assert clean("no /home/user/key here", {name: "/home/user/key"}) == "no /home/user/key here"


# Parts that the patterns begin with, or go on with for ever.
PARTS = ("a1A", "\\", '"', "=", "token:", "client-key-data: ", "-----BEGIN PRIVATE KEY", "YXBp",
         "LS0tLS1CRUdJTi", "\x1b]", "\x9d\x90")  # fmt: skip
# Its limit is one of work, which no other process of the machine uses up.
LONG = """
import resource, sys
from aksgpu.review.masking import clean
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
for part in sys.stdin.read().split(chr(0)):
    clean(part * (40_000 // len(part)) + "!", {})
"""


def test_masking_takes_linear_time() -> None:
    """8000 underscores took seconds, and a page of them minutes: the review stood still."""
    parts = "\0".join(PARTS)
    subprocess.run([sys.executable, "-c", LONG], input=parts, text=True, check=True)


def test_control_and_bidirectional_characters_are_removed() -> None:
    assert clean("a\x1b[31mred\x1b[0m\x07\u202eb\u200b\nc\td", {}) == "aredb\nc\td"
