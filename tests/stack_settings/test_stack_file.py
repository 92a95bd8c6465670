"""A stack file as it is written: values, lines, secrets, and what is told of one that is none."""

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
    folder_of_stacks,
    parse,
    project_in,
    read,
    read_project,
    stack_file_of,
)

TEXT = """# A comment.
encryptionsalt: gpu
config:
  aks-gpu:location: eastus
  aks-gpu:cluster:
    name: cluster-of-ours
  gpuPools:
    - name: gpu
      vmSize: Standard_NC8as_T4_v3
    - vmSize: Standard_NC4as_T4_v3
      name: small
  aks-gpu:other:
    training: {}
  odd key: 5
  aks-gpu:tags:
    a b/c: 1
    'it"s': 2
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("location", 4),
        ("gpuPools", 7),
        ("gpuPools[0].vmSize", 9),
        ("gpuPools[1].count", 10),
        ("aks-gpu:cluster.name", 6),
        (f"gpuPools[{'9' * 5000}]", 7),
        ('["odd key"]', 14),
        ('tags["a b/c"]', 16),
        ('tags["it\\"s"]', 17),
        ("nosuch", None),
    ],
)
def test_a_key_has_its_line_or_that_of_its_parent(key: str, line: int | None) -> None:
    assert parse(TEXT, "x").line_of_key(key) == line
    assert StackFile({}).line_of_key(key) is None


def test_a_missing_file_is_reported_with_the_existing_ones(tmp_path: Path) -> None:
    with pytest.raises(NoStackFileError, match=r"Existing stack files: none\."):
        read(tmp_path / "Pulumi.nosuch.yaml")
    (tmp_path / "Pulumi.prod.eu.yaml").touch()
    with pytest.raises(NoStackFileError, match=r"no stack file Pulumi.nosuch.*Pulumi.prod.eu.yaml"):
        read(tmp_path / "Pulumi.nosuch.yaml")


BOMB = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"config: [", r"is not valid YAML: .* \(line 1\)"),
        (b"config:\n\ta: b", r"is not valid YAML: .* \(line 2\)"),
        (b"config: {a: b}\n---\nconfig: {}", "is not valid YAML: expected a single document"),
        (b"config:\n  a: b\n  c: d\n  a: e", r"is not valid YAML: a key stands twice \(line 4\)"),
        (b"config: \xff", "is not valid YAML: it is not encoded in UTF-8"),
        (b"a: &a [*a]", "is not valid YAML: it contains itself, or is nested too deeply"),
        (b"[" * 5000, "is not valid YAML: it contains itself, or is nested too deeply"),
        (BOMB.encode(), "is not valid YAML: it has more than 20000 values"),
        (b"config: !!python/object:a {}", r"is not valid YAML: could not determine .* \(line 1\)"),
        (b"- a\n- b", "must contain a map `config`"),
        (b"config: [1]", "must contain a map `config`"),
    ],
)
def test_an_unreadable_file_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_bytes(content)
    with pytest.raises(StackFileError, match=f"(?s)^Pulumi.dev.yaml {message}") as told:
        read(path)
    assert "\n" not in str(told.value)


def test_values_are_passed_to_the_program_as_text() -> None:
    """A key without a namespace is one of the project."""
    text = "config: {a: b, c: true, d: 3, e: [x, {f: 1}], g: , h: 2024-02-29, 3: yes, azure:i: 1.5}"
    assert as_engine_config(parse(text, "x").config) == {
        "aks-gpu:a": "b",
        "aks-gpu:c": "true",
        "aks-gpu:d": "3",
        "aks-gpu:e": '["x", {"f": 1}]',
        "aks-gpu:g": "",
        "aks-gpu:h": "2024-02-29",
        "aks-gpu:3": "yes",
        "azure:i": "1.5",
    }
    assert parse("", "x").config == {}


def test_a_file_of_windows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_bytes(b"\xef\xbb\xbfconfig:\r\n  a: |\r\n    b\r\n    c\r\n  location: x\r\n")
    file = read(path)
    assert file.config == {"aks-gpu:a": "b\nc\n", "aks-gpu:location": "x"}
    assert file.line_of_key("location") == 5


def test_secrets_are_found_at_any_depth() -> None:
    text = "config: {a: {secure: x}, b: [{c.d: {secure: y}, e: z}], azure:f: {g: {secure: x}}}"
    file = parse(text, "x")
    assert file.secrets == {"aks-gpu:a": "x", 'aks-gpu:b[0]["c.d"]': "y", "azure:f.g": "x"}
    assert as_engine_config(file.config) == {
        "aks-gpu:a": "secret=secret",
        "aks-gpu:b": '[{"c.d": "secret=secret", "e": "z"}]',
        "azure:f": "{}",
    }


@pytest.mark.parametrize(
    "text",
    [
        "systemPool: {customHeaders: HIDDEN}",
        "systemPool: {customHeaders: {A: HIDDEN}}",
        "gpuPools: [{name: gpu, vmSize: Standard_NC8as_T4_v3, extra: {messageOfTheDay: HIDDEN}}]",
        "gpuOperator: {values: {a: HIDDEN}}",
        "tags: {secure: a, b: c}",
    ],
)
def test_a_stack_file_with_secrets_is_read_as_by_the_program(text: str) -> None:
    """Preflight refused stack files that `pulumi up` takes."""
    file = parse(f"config: {{aks-gpu:{text}}}".replace("HIDDEN", "{secure: x}"), "x")
    load(as_engine_config(file.config), "test", pytest.fail)


@pytest.mark.parametrize(
    "environment", ["[gpu/dev]", "{imports: [gpu/dev]}", "[gpu: {merge: false}]"]
)
def test_a_file_with_values_from_an_environment_is_not_complete(environment: str) -> None:
    """It was judged by the defaults of what the environment says."""
    with pytest.raises(EscEnvironmentError, match="takes values from an environment of Pulumi ESC"):
        parse(f"environment: {environment}", "Pulumi.dev.yaml").require_whole()
    parse("environment: []", "x").require_whole()


def test_mistakes_found_by_the_program_have_their_lines(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("stackConfigDir: stacks")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config:\n  b: y\n  aks-gpu:a: x\n")
    a, b, c = (Mistake(name, "is wrong") for name in "abc")
    assert stack_file_of(tmp_path, "dev").located([a, b, c]) == [(c, None), (b, 2), (a, 3)]
    # Pulumi may have been given a file that lies somewhere else.
    assert stack_file_of(tmp_path, "prod").located([a]) == [(a, None)]


def test_the_project_file_names_the_folder_of_stack_files(tmp_path: Path) -> None:
    for text in (b"stackConfigDir: stacks", b"config: stacks"):
        assert folder_of_stacks(project_in(text)) == "stacks"
    for text in (b"config: {a: b}", b"[", b"[a]"):
        assert folder_of_stacks(project_in(text)) == "."
    assert read_project(tmp_path / "nowhere") == {}
