"""A stack file as it is written: values, places, secrets, and what is told of one that is none."""

from pathlib import Path

import pytest

from catalogue.mistakes import Mistake
from settings import load
from settings.stack_file import (
    ElsewhereError,
    NoStackFileError,
    StackFile,
    StackFileError,
    as_the_engine_hands_it_over,
    of_a_program,
    parse,
    read,
)

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
    for impossible in ("a" * 300, "\0"):
        with pytest.raises(NoStackFileError, match=r"There is no stack file"):
            read(tmp_path / f"Pulumi.{impossible}.yaml")
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
    assert as_the_engine_hands_it_over(file.config) == {
        "aks-gpu:b": '[{"d": "z"}]',
        "azure:e": "{}",
    }


def test_names_of_encrypted_headers_labels_and_tags_are_kept() -> None:
    hidden = "{secure: x}"
    pool = f"{{name: gpu, customHeaders: {{A: {hidden}}}, taints: [{hidden}, a], vmSize: {hidden}}}"
    text = f"config: {{gpuPools: [{pool}], tags: {hidden}, network: {{podCidr: {hidden}}}}}"
    assert as_the_engine_hands_it_over(parse(text, "x").config) == {
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
    load(as_the_engine_hands_it_over(file.config), pytest.fail)


def test_an_encrypted_feature_header_is_left_out() -> None:
    headers = "{AKSHTTPCustomFeatures: {secure: x}, A: {secure: y}}"
    file = parse(f"config: {{aks-gpu:systemPool: {{customHeaders: {headers}}}}}", "x")
    (value,) = as_the_engine_hands_it_over(file.config).values()
    assert value == '{"customHeaders": {"A": "secret"}}'


@pytest.mark.parametrize(
    "environment", ["[gpu/dev]", "{imports: [gpu/dev]}", "[gpu: {merge: false}]"]
)
def test_a_file_with_values_from_an_environment_is_not_complete(environment: str) -> None:
    """It was judged by the defaults of what the environment says."""
    with pytest.raises(ElsewhereError, match="takes values from an environment of Pulumi ESC"):
        parse(f"environment: {environment}", "Pulumi.dev.yaml").require_whole()
    parse("environment: []", "x").require_whole()


def test_a_mistake_found_by_the_program_has_its_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("stackConfigDir: stacks")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config:\n  aks-gpu:location: x\n")
    wrong = Mistake("location", "is wrong")

    file = of_a_program(tmp_path, "dev")
    assert file.with_place(wrong) == "location: is wrong (Pulumi.dev.yaml:2:3)"
    # Pulumi may have been given a file that lies somewhere else.
    assert of_a_program(tmp_path, "prod").with_place(wrong) == "location: is wrong"


def test_values_are_passed_to_the_program_as_text() -> None:
    config = parse("config: {a: b, c: true, d: 3, e: [x, {f: 1}], g: }", "x").config
    assert as_the_engine_hands_it_over(config) == {
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


def test_every_mistake_that_pulumi_refuses_has_its_line() -> None:
    """A key that stood twice was read, and Pulumi refused the file afterwards."""
    text = """\
encryptionsalt: [a]
config:
  location: eastus
  aks-gpu:location: westus
  aks-gpu:tags: {a: b, 'a': c, d: .nan, e: !!int x}
  a:b:c: d
  3: x
"""
    wrong = parse(text, "Pulumi.dev.yaml").wrong
    assert [(one.mistake.path, one.place) for one in wrong] == [
        ("encryptionsalt", (1, 17)),
        ("location", (4, 3)),
        ("tags.a", (5, 24)),
        ("tags.d", (5, 35)),
        ("tags.e", (5, 44)),
        ("a:b:c", (6, 3)),
        ('["3"]', (7, 3)),
    ]
    with pytest.raises(
        StackFileError, match=("is a duplicate of the key in line 3, column 3 \\(line 4")
    ):
        parse(text, "Pulumi.dev.yaml").require_whole()
