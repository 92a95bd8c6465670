"""A stack file as it is written: values, places, secrets, and what is told of one that is none."""

from pathlib import Path

import pytest

from aks_catalogue.mistakes import Mistake
from stack_settings.reading import load
from stack_settings.stack_file import (
    EscEnvironmentError,
    NoStackFileError,
    StackFile,
    StackFileError,
    as_engine_config,
    parse,
    read,
    stack_file_of,
)
from stack_settings.yaml_text import Place

TEXT = """# A comment.
encryptionsalt: gpu
config:
  aks-gpu:location: eastus
  aks-gpu:cluster:
    name: cluster-of-ours
  aks-gpu:gpuPools:
    - name: gpu
      vmSize: Standard_NC8as_T4_v3
    - vmSize: Standard_NC4as_T4_v3
      name: small
  aks-gpu:other:
    training: {}
"""


@pytest.fixture
def file(tmp_path: Path) -> StackFile:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text(TEXT)
    return read(path)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("location", 4),
        ("gpuPools", 7),
        ("gpuPools[0].vmSize", 9),
        ("gpuPools[1].name", 11),
        ("gpuPools[1].count", 10),
        ("cluster.name", 6),
        ("gpuPools[²]", 7),
        (f"gpuPools[{'9' * 5000}]", 7),
        ("nosuch", None),
    ],
)
def test_a_key_has_its_line_or_that_of_its_parent(
    file: StackFile, key: str, line: int | None
) -> None:
    place = file.place_of_key(key)
    assert (place and place.line) == line


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("location", "line 4, column 3"),
        ("gpuPools[0].vmSize", "line 9, column 7"),
        ("gpuPools[1].count", "line 10, column 7"),
    ],
)
def test_a_key_has_a_column_too(file: StackFile, key: str, place: str) -> None:
    assert str(file.place_of_key(key)) == place


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (("gpu",), 8),
        (("small",), 11),
        (("nosuch", "cluster-of-ours"), 6),
        (("training",), 13),
        (("cluster",), 5),
        (("", "nosuch"), None),
    ],
)
def test_a_resource_name_has_its_line(
    file: StackFile, names: tuple[str, ...], line: int | None
) -> None:
    assert file.line_of_name(*names) == line


def test_an_empty_file_has_no_lines() -> None:
    for file in (parse("", "Pulumi.dev.yaml"), StackFile({})):
        assert file.place_of_key("location") is None
        assert file.line_of_name("gpu") is None
        assert (file.config, file.secrets) == ({}, {})


def test_a_missing_file_is_reported_with_the_existing_ones(tmp_path: Path) -> None:
    with pytest.raises(NoStackFileError, match=r"Existing stack files: none\."):
        read(tmp_path / "Pulumi.nosuch.yaml")
    (tmp_path / "Pulumi.prod.eu.yaml").touch()
    with pytest.raises(NoStackFileError, match=r"no stack file Pulumi.nosuch.*Pulumi.prod.eu.yaml"):
        read(tmp_path / "Pulumi.nosuch.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"config: [", "Pulumi.dev.yaml is not valid YAML"),
        (b"- a\n- b", "Pulumi.dev.yaml must contain a map"),
        (b"config: [1]", "Pulumi.dev.yaml must contain a map"),
        (b"config: \xff", "is not encoded in UTF-8"),
        (b"config: {a: b", "line 1"),
    ],
)
def test_an_unreadable_file_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_bytes(content)
    with pytest.raises(StackFileError, match=message):
        read(path)


def test_a_key_without_a_namespace_is_one_of_the_project() -> None:
    file = parse("config: {location: eastus, azure-native:tenantId: t, 3: c}", "x")
    assert file.config == {
        "aks-gpu:location": "eastus",
        "azure-native:tenantId": "t",
        "aks-gpu:3": "c",
    }


def test_secrets_are_found_at_any_depth() -> None:
    text = "config: {a: {secure: x}, b: [{c: {secure: y}, d: z}], azure:e: {f: {secure: x}}}"
    file = parse(text, "x")
    assert file.secrets == {"aks-gpu:a": "x", "aks-gpu:b[0].c": "y", "azure:e.f": "x"}
    assert as_engine_config(file.config) == {
        "aks-gpu:b": '[{"d": "z"}]',
        "azure:e": "{}",
    }


def test_a_secret_has_the_place_of_its_key() -> None:
    """A key such as `a.b/c` was not found by the path of its secret, but the key above it."""
    text = "config:\n  gpuOperator:\n    values:\n      a.b/c: {secure: x}\n"
    file = parse(text, "x")
    [path] = file.secrets
    assert file.place_of_key(path) == Place(4, 7)


def test_names_of_encrypted_headers_labels_and_tags_are_kept() -> None:
    hidden = "{secure: x}"
    pool = f"{{name: gpu, customHeaders: {{A: {hidden}}}, taints: [{hidden}, a], vmSize: {hidden}}}"
    text = f"config: {{gpuPools: [{pool}], tags: {hidden}, network: {{podCidr: {hidden}}}}}"
    assert as_engine_config(parse(text, "x").config) == {
        "aks-gpu:gpuPools": '[{"name": "gpu", "customHeaders": {"A": "secret"}, "taints": ["a"]}]',
        "aks-gpu:network": "{}",
    }


NETWORK = "dnsServiceIp: 10.8.0.10, serviceCidr: 10.8.0.0/16"


@pytest.mark.parametrize(
    "text",
    [
        "network: {mode: subnet, subnetId: HIDDEN}",
        f"network: {{{NETWORK}}}".replace("10.8.0.10", "HIDDEN"),
        f"network: {{{NETWORK}}}".replace("10.8.0.0/16", "HIDDEN"),
        "network: {dnsServiceIp: HIDDEN, serviceCidr: HIDDEN}",
        "cluster: {authorizedIpRanges: [HIDDEN]}",
        "network: {podCidr: HIDDEN}",
        "systemPool: {customHeaders: HIDDEN}",
        "tags: {secure: a, b: c}",
        "tags: {secure: a, b: HIDDEN}",
    ],
)
def test_a_stack_file_with_secrets_is_read_as_by_the_program(text: str) -> None:
    """Preflight refused stack files that `pulumi up` takes."""
    file = parse(f"config: {{aks-gpu:{text}}}".replace("HIDDEN", "{secure: x}"), "x")
    load(as_engine_config(file.config), "test", pytest.fail)


def test_an_encrypted_feature_header_is_left_out() -> None:
    headers = "{AKSHTTPCustomFeatures: {secure: x}, A: {secure: y}}"
    file = parse(f"config: {{aks-gpu:systemPool: {{customHeaders: {headers}}}}}", "x")
    (value,) = as_engine_config(file.config).values()
    assert value == '{"customHeaders": {"A": "secret"}}'


@pytest.mark.parametrize(
    "environment", ["[gpu/dev]", "{imports: [gpu/dev]}", "[gpu: {merge: false}]"]
)
def test_a_file_with_values_from_an_environment_is_not_complete(environment: str) -> None:
    """It was judged by the defaults of what the environment says."""
    with pytest.raises(EscEnvironmentError, match="takes values from an environment of Pulumi ESC"):
        parse(f"environment: {environment}", "Pulumi.dev.yaml").require_whole()
    parse("environment: []", "x").require_whole()


def test_a_mistake_found_by_the_program_has_its_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("stackConfigDir: stacks")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config:\n  aks-gpu:location: x\n")
    wrong = Mistake("location", "is wrong")

    file = stack_file_of(tmp_path, "dev")
    assert file.with_place(wrong) == "location: is wrong (Pulumi.dev.yaml:2:3)"
    # Pulumi may have been given a file that lies somewhere else.
    assert stack_file_of(tmp_path, "prod").with_place(wrong) == "location: is wrong"


def test_values_are_passed_to_the_program_as_text() -> None:
    config = parse("config: {a: b, c: true, d: 3, e: [x, {f: 1}], g: }", "x").config
    assert as_engine_config(config) == {
        "aks-gpu:a": "b",
        "aks-gpu:c": "true",
        "aks-gpu:d": "3",
        "aks-gpu:e": '["x", {"f": 1}]',
        "aks-gpu:g": "",
    }


def test_an_invalid_date_is_a_string() -> None:
    assert parse("config: {x: 2024-02-30}", "x").config == {"aks-gpu:x": "2024-02-30"}


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ('tags["a b"]', (3, 5)),
        ('tags["a/b"]', (4, 5)),
        ('tags["it\\"s"]', (5, 5)),
        ('tags["x:y"]', (6, 5)),
        ('["odd key"]', (7, 3)),
        ("azure-native:clientSecret", (8, 3)),
        ("clientSecret", (8, 3)),
    ],
)
def test_odd_keys_have_a_line_and_column(key: str, place: tuple[int, int]) -> None:
    """Keys with blanks, slashes, colons and quotes were told without a place."""
    tags = """    a b: 1\n    a/b: 2\n    'it"s': 3\n    x:y: 4\n"""
    text = f"config:\n  aks-gpu:tags:\n{tags}  odd key: 5\n  azure-native:clientSecret: x\n"
    assert parse(text, "x").place_of_key(key) == place


def test_every_key_that_stands_twice_has_its_line() -> None:
    """A key that stood twice was read, and Pulumi refused the file afterwards."""
    text = """\
config:
  location: eastus
  aks-gpu:location: westus
  aks-gpu:tags: {a: b, 'a': c, "it's": d, "it's": e}
  azure-native:location: eastus
  azure-native:location: eastus
encryptionsalt: a
encryptionsalt: b
"""
    wrong = parse(text, "Pulumi.dev.yaml").wrong
    assert [(one.mistake.path, one.place) for one in wrong] == [
        ("location", (3, 3)),
        ("tags.a", (4, 24)),
        ('tags["it\'s"]', (4, 43)),
        ("azure-native:location", (6, 3)),
        ("encryptionsalt", (8, 1)),
    ]
    with pytest.raises(
        StackFileError, match=("is a duplicate of the key in line 2, column 3 \\(line 3")
    ):
        parse(text, "Pulumi.dev.yaml").require_whole()


def test_values_of_an_anchor_have_its_place() -> None:
    """A pool that came by `<<` had the place of the list of pools."""
    text = """\
small: &small
  vmSize: Standard_NC4as_T4_v3
  count: 1
config:
  aks-gpu:gpuPools:
    - <<: *small
      count: 2
    - *small
"""
    file = parse(text, "x")
    pool = {"vmSize": "Standard_NC4as_T4_v3", "count": 1}
    assert file.config == {"aks-gpu:gpuPools": [pool | {"count": 2}, pool]}
    places = {path: file.place_of_key(path) for path in ("gpuPools[0].vmSize", "gpuPools[0].count")}
    assert places == {"gpuPools[0].vmSize": (2, 3), "gpuPools[0].count": (7, 7)}
    assert file.place_of_key("gpuPools[1].count") == (3, 3)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"config:\n\ta: b", "line 2, column 1"),
        (b"config:\r\n  a: b: c\r\n", "line 2, column 7"),
        ("# \u00fc\nconfig: {a: \u00fc}".encode("latin-1"), "line 1, column 3"),
        (b"a: &a [*a]", ""),
    ],
)
def test_broken_yaml_has_its_place(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_bytes(content)
    with pytest.raises(StackFileError, match=f"(?s)^Pulumi.dev.yaml is not valid.*{place}") as told:
        read(path)
    assert str(told.value.wrong[0].place or "") == place


def test_a_file_of_windows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_bytes(b"\xef\xbb\xbfconfig:\r\n  a: |\r\n    b\r\n    c\r\n  location: x\r\n")
    file = read(path)
    assert file.config == {"aks-gpu:a": "b\nc\n", "aks-gpu:location": "x"}
    assert file.place_of_key("location") == (5, 3)
