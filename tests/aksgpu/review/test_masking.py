"""What looks like a secret is masked; what does not is left."""

import base64
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aksgpu.review.masking import MASK, clean
from catalogue.sizes import gpu_sizes

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
        ("redis://:pass123@cache.example.com", "pass123"),
        ("refused: --password hunter22x!", "hunter22x"),
        ("--docker-password hunter22x! --force", "hunter22x"),
        ("Server=x;Uid=a;Pwd=Hunter2!!x;", "Hunter2"),
        ("passwd: hunter22/", "hunter22"),
        ("Authorization: token abcdef123456", "abcdef123456"),
        ('{"Authorization": "ApiKey abcdef123456"}', "abcdef123456"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc", "abc"),
        (f"token-{TOKEN}", TOKEN),
    ],
)
def test_a_secret_is_masked(text: str, secret: str) -> None:
    assert secret in text
    shown = clean(text, {})
    assert secret not in shown
    assert MASK in shown


@given(
    secret=st.text(st.characters(codec="ascii", categories=["Lu", "Nd", "P"]), min_size=1),
    depth=st.integers(1, 4),
)
@settings(max_examples=50)
def test_a_secret_in_json_within_json_is_masked(secret: str, depth: int) -> None:
    """In an error that repeats a body the quotes are escaped."""
    text = json.dumps({"password": "hunter" + secret + "x"})
    for _ in range(depth):
        text = json.dumps({"body": text})
    shown = clean(text, {})
    assert "hunter" not in shown
    assert MASK in shown


LETTERS = st.characters(codec="ascii", categories=["Lu", "Ll", "Nd"])
HEX = st.sampled_from("0123456789abcdef")
UPPER = st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
BASE_64 = st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
# How tokens begin and end, and what is between: as their makers describe them.
MAKERS = {
    "GitHub": ("ghp_", LETTERS, 36, ""),
    "GitHub, an app": ("ghs_", LETTERS, 36, ""),
    "GitHub, fine-grained": ("github_pat_11", LETTERS, 80, ""),
    "GitLab": ("glpat-", LETTERS, 20, ""),
    "GitLab, a runner": ("glrt-t1_", LETTERS, 20, ""),
    "Pulumi": ("pul-", HEX, 40, ""),
    "Hugging Face": ("hf_", LETTERS, 34, ""),
    "OpenAI": ("sk-proj-", LETTERS, 48, ""),
    "Anthropic": ("sk-ant-api03-", LETTERS, 93, "AA"),
    "NVIDIA": ("nvapi-", LETTERS, 64, ""),
    "npm": ("npm_", LETTERS, 36, ""),
    "PyPI": ("pypi-AgEIcHlwaS5vcmc", LETTERS, 60, ""),
    "AWS": ("AKIA", UPPER, 16, ""),
    "Slack": ("xoxb-123456789012-123456789012-", LETTERS, 24, ""),
    "Google": ("AIza", LETTERS, 35, ""),
    "Stripe": ("sk_live_", LETTERS, 24, ""),
    "Docker Hub": ("dckr_pat_", LETTERS, 27, ""),
    "Vault": ("hvs.", LETTERS, 24, ""),
    "Databricks": ("dapi", HEX, 32, ""),
    "Microsoft Entra": ("a1b8Q~", LETTERS, 34, ""),
    "a storage account": ("", BASE_64, 86, "=="),
    "Azure OpenAI": ("", LETTERS, 52, "JQQJ99BAACYeBjFXJ3w3AAABACOGabcd"),
    "the next maker": ("newmaker_live_", LETTERS, 40, "aB3dE5"),
}
AROUND = ("{}", "it says {}.", "'{}'", '{{"a": "{}"}}', "https://example.com/?a={}&b=c", "a={};b")


@pytest.mark.parametrize("maker", MAKERS)
@given(data=st.data())
@settings(max_examples=25)
def test_a_token_is_masked_without_a_key(maker: str, data: st.DataObject) -> None:
    """Only what had a telling key before it was masked."""
    begin, letters, length, end = MAKERS[maker]
    body = data.draw(st.text(letters, min_size=length, max_size=length))
    # No maker's token is all of one kind.
    token = begin + (f"aB3{body[3:]}" if letters is LETTERS else body) + end
    shown = clean(data.draw(st.sampled_from(AROUND)).format(token), {})
    assert MASK in shown
    assert token[len(begin) : -4] not in shown


@pytest.mark.parametrize(
    "text",
    [
        '{"auths": {"r.azurecr.io": {"auth": "dXNlcjpodW50ZXIy"}}}',
        r'"{\"auths\": {\"r.azurecr.io\": {\"auth\": \"dXNlcjpodW50ZXIy\"}}}"',
        base64.b64encode(b'{"auths":{"r.io":{"auth":"dXNlcjpodW50ZXIy"}}}').decode(),
        base64.b64encode(b'{\n  "auths": {"r.io": {"auth": "dXNlcjpodW50ZXIy"}}}').decode(),
    ],
)
def test_the_credentials_of_a_registry_are_masked(text: str) -> None:
    shown = clean(text, {})
    assert "dXNlcjpodW50ZXIy" not in shown
    assert MASK in shown


GUID = st.uuids().map(str)
DIGEST = st.text(HEX, min_size=64, max_size=64)
WORD = st.from_regex(r"[a-z][a-z0-9]{0,11}(-[a-z0-9]{1,11}){0,3}", fullmatch=True)
AZURE = "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Compute/disks/{}"
# As tokens begin, and names may.
BEGINNINGS = ("sk-", "global-", "gl", "npm-", "hf-", "pypi", "xai-", "dapi-", "do-", "key-", "pul-")
ORDINARY = st.one_of(
    GUID,
    st.tuples(GUID, WORD, WORD).map(lambda parts: AZURE.format(*parts)),
    DIGEST.map("mcr.microsoft.com/aks/fundamental/base@sha256:{}".format),
    DIGEST.map("sha256:{}".format),
    st.text(HEX, min_size=40, max_size=40).map("commit {}".format),
    WORD.map("urn:pulumi:dev::aks-gpu::azure-native:containerservice:AgentPool::{}".format),
    WORD.map("MC_myResourceGroup_myAKSCluster_{}".format),
    st.sampled_from([size.name for size in gpu_sizes().values()]),
    st.tuples(st.sampled_from(BEGINNINGS), WORD).map("".join),
    st.lists(WORD, min_size=8, max_size=20).map("/".join),
    st.integers(10_000_000, 99_999_999).map("aks-gpu-{}-vmss00000a".format),
    GUID.map("https://oic.prod-aks.azure.com/{}/".format),
)


@given(ORDINARY, st.sampled_from(AROUND))
@settings(max_examples=200)
def test_ordinary_ids_are_not_masked(text: str, around: str) -> None:
    assert clean(around.format(text), {}) == around.format(text)


@pytest.mark.parametrize(
    "text",
    [
        "Microsoft.ContainerService/GPUDedicatedVHDPreview",
        "nvcr.io/nvidia/k8s-device-plugin:v0.17.1",
        "AKSUbuntu-2204gen2containerd-202511.07.0",
        "the auth: it is required",
        "imagePullSecret: my-registry-cred-1",
        "existingSecret: grafana-admin-1",
        "PWD=/home/runner/work-1",
        "--password is required, --password-stdin is not",
        "--token-file /var/run/token-1",
        "Authorization: it is required",
        "UseGPUDedicatedVHD=true, AKSHTTPCustomFeatures",
        "task-force-of-the-platform-team-for-gpus-and-friends",
    ],
)
def test_ordinary_names_are_not_masked(text: str) -> None:
    assert clean(text, {}) == text


def test_secrets_of_the_environment_are_masked() -> None:
    environment = {
        "ARM_CLIENT_SECRET": "xyzzy-42",
        "PULUMI_CONFIG_PASSPHRASE": "rehearsal",
        "PATH": "/usr/bin",
        "GITHUB_TOKEN": "short",
    }
    assert clean("xyzzy-42 rehearsal /usr/bin short", environment) == (
        f"{MASK} {MASK} /usr/bin short"
    )


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
PARTS = (
    *"_-~./+=a1A \\\"':\x9d\x90\x9b", "a_", "a-", "a/", "sk-", "Aa1_", "aB3-", "eyJ", "eyJ-",
    "eyJa.", "pscale_", "token:", "password='", "--password ", "://", "://a", "Authorization: ",
    "-----BEGIN PRIVATE KEY", "YXBp", "\x1b]",
)  # fmt: skip
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
def test_ordinary_words_are_not_masked(text: str) -> None:
    assert clean(text, {}) == text


def test_control_and_bidirectional_characters_are_removed() -> None:
    assert clean("a\x1b[31mred\x1b[0m\x07\u202eb\u200b\nc\td", {}) == "aredb\nc\td"
