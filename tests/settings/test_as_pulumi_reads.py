"""Stack files mean here what they mean to Pulumi: the same values, the same refusals."""

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from engine import Engine
from settings.stack_file import StackFile, StackFileError, as_the_engine_hands_it_over, parse
from settings.yaml_text import written

# Values by how Pulumi's engine was seen to read them.
SCALARS = {
    "yes": "yes",
    "off": "off",
    "n": "n",
    "True": "true",
    "1:30": "1:30",
    "0777": "511",
    "08": "8",
    "0o17": "15",
    "0x1F": "31",
    "0b11": "3",
    "1_000": "1000",
    "+1": "1",
    "-0.0": "0",
    "1e3": "1000",
    "1e-7": "1e-7",
    "1e999": "1e999",
    ".5": "0.5",
    "1.0": "1",
    "18446744073709551616": "18446744073709552000",
    "9" * 5000: "9" * 5000,
    "2024-01-01": "2024-01-01 00:00:00 +0000 UTC",
    "2024-1-1T1:2:3.50+01:00": "2024-01-01 01:02:03.5 +0100 +0100",
    "2024-01-01 01:02:03": "2024-01-01 01:02:03 +0000 UTC",
    "2024-02-30": "2024-02-30",
    "": "",
    "~": "",
    "Null": "",
    "!!binary aGVsbG8=": "hello",
    "!odd 5": "5",
    "! 5": "5",
    "!!str 5": "5",
    '!!int "5"': "5",
    "!!float 5": "5",
}
REFUSED = (
    "config: {a: b, a: c}",
    "config: {a: b, 'a': c}",
    "config: {a: {b: 1, b: 2}}",
    "config: {3: a}",
    "config: {a: .nan}",
    "config: {a: [1, {b: -.Inf}]}",
    "config: {'a:b:c': d}",
    "config: {a: !!bool yes}",
    "config: {a: !!int x}",
    "config: {a: !!binary x}",
    "config: {a: {? [a] : b}}",
    "config: {a: {<<: 5}}",
    "config: []",
    "config: ''",
    "1: 2",
    "x",
    "- a",
    "a: &x [*x]",
    "a: *nowhere",
    "secretsprovider: [a]",
    "encryptedkey: {a: b}",
    "%YAML 1.2\n---\nconfig: {a: b}",
    "config: {a: b",
    "config:\n\ta: b",
    "config: {a: 'b}",
    "config:\n  a: b\n c: d",
    "config: a: b",
    "config: {a: @b}",
    "config: {a: [b:{c: d}]}",
    "config: {a: [b?c]}",
    "config: {a: \x07}",
    "a: &a [1,1,1,1,1,1,1,1]\n"
    + "".join(
        f"{one}: &{one} [{', '.join([f'*{before}'] * 8)}]\n"
        for before, one in itertools.pairwise("abcdefgh")
    ),
)
TAKEN = (
    "",
    "---",
    "# nothing",
    "config:",
    "config: {a: b}\n---\nc: [",
    "config: {a: &x 1, b: &x 2, c: *x}",
    "x: &x {b: 1, c: 2}\nconfig: {a: {<<: *x, b: 3}}",
    "x: &x {b: 1}\ny: &y {b: 2, c: 3}\nconfig: {a: {<<: [*x, *y]}}",
    "config: {a: {1: a, 1.5: b, true: c, ~: d, 2024-01-01: e}}",
    "config: {a: {secure: [x]}, b: {c: d, secure: x}}",
    "config: {'x:config:c': d}",
    "config:\n  a: |\n    one\n    two\n",
    "config:\n  a: >-\n    one\n    two\n",
    'config: {"a": "\\u00e9\\x41\\n"}',
    "encryptionsalt:\nnosuch: [a]",
    "environment: []",
    "config: {k: [a:, b], l: {c:}, m: {a: b:}, n: [x: , 'y':, z]}",
    "config: {a: [1, ~, [], {}, {b: }]}",
)


def read(text: str) -> StackFile | None:
    """A stack file; None where it is refused."""
    try:
        file = parse(text, "x")
    except StackFileError:
        return None
    return None if file.wrong else file


@pytest.mark.parametrize(("text", "value"), SCALARS.items())
def test_scalars_are_read_as_by_pulumi(text: str, value: str) -> None:
    """`yes` was true, `1:30` ninety, a date no JSON, and the review failed at .nan."""
    file = read(f"config:\n  a: {text}\n")
    assert file
    assert as_the_engine_hands_it_over(file.config) == {"aks-gpu:a": value}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_values_have_a_place(text: str) -> None:
    try:
        wrong = parse(text, "x").wrong
    except StackFileError as error:
        wrong = error.wrong
    assert wrong
    assert all(one.place for one in wrong)


@pytest.mark.parametrize("text", TAKEN)
def test_valid_yaml_is_accepted(text: str) -> None:
    assert read(text)


plain = st.sampled_from(
    [*SCALARS, ".nan", "!!bool yes", "'", '"it"', "'yes'", "a: b", "a #b", "*x"]
)
numbers = st.from_regex(r"[-+]?[0-9][0-9_.:eExob]{0,6}", fullmatch=True)
times = st.from_regex(
    r"20[0-9]{2}-[0-9]{1,2}-[0-3]?[0-9]([Tt ][0-2]?[0-9]:[0-9]{2}:[0-9]{2}Z?)?", fullmatch=True
)
words = st.text(st.sampled_from("ab1~!&*?|>-%@`#:,[]{}'\" \u00e9\\"), max_size=6)
scalars = plain | numbers | times | words
keys = st.sampled_from(["a", "b", "1", "1.0", "'1'", "true", "~", "<<", "a b", "x:y", ""])
flows = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(keys, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=5,
)
files = st.lists(st.tuples(keys, flows), min_size=1, max_size=3).map(
    lambda pairs: "config:\n" + "".join(f"  k{key}: {value}\n" for key, value in pairs)
)


@given(st.sampled_from([*SCALARS, "<<", "a: b", "it's", "# a", "- a"]) | numbers | times | words)
@settings(max_examples=100)
def test_written_values_are_read_back(text: str) -> None:
    """A copy of a stack file that was written by YAML 1.1 said other numbers to Pulumi."""
    content = {"config": {"aks-gpu:a": text, "aks-gpu:b": {text: [text]}}}
    assert parse(written(content), "x").content == content


@pytest.mark.long
def test_generated_stack_files_mean_the_same_to_pulumi(engine: Engine, tmp_path: Path) -> None:
    generated: list[str] = []

    @seed(1)
    @settings(
        max_examples=70,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(files)
    def collect(text: str) -> None:
        generated.append(text)

    collect()
    pulumi = _Pulumi(engine, tmp_path)
    differ = []
    for text in dict.fromkeys([*REFUSED, *TAKEN, *generated]):
        values = pulumi.read(text)
        file = read(text)
        ours = as_the_engine_hands_it_over(file.config) if file else None
        if _plain(ours) != _plain(values):
            differ.append((text, values, ours))
    assert not differ, "\n".join(map(repr, differ))


class _Pulumi:
    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        (folder / "Pulumi.yaml").write_text("name: aks-gpu\nruntime: python\n")
        self.run("stack", "init", "it")

    def read(self, text: str) -> dict[str, str] | None:
        (self.folder / "it.yaml").write_text(text)
        ended = self.run("config", "--json", "--stack", "it", "--config-file", "it.yaml")
        if ended.returncode:
            return None
        return {
            key: entry["value"]
            for key, entry in json.loads(ended.stdout).items()
            if "value" in entry
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PULUMI_BACKEND_URL": f"file://{self.folder}",
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }
        return subprocess.run(
            [self.engine.pulumi, *arguments],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip


def _plain(texts: dict[str, str] | None) -> Any:
    return texts and {key: tuple(_parsed(text)) for key, text in texts.items()}


def _parsed(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text) if text[:1] in ("[", "{") else text
    except ValueError:
        yield text
