"""Stack files mean here what they mean to Pulumi: the same values, the same refusals."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machine_setup import Engine
from stack_settings.stack_file import StackFile, StackFileError, as_engine_config, parse
from stack_settings.yaml_text import to_yaml

# Values by how Pulumi's engine was seen to read them.
SCALARS = {
    "yes": "yes",
    "No": "No",
    "on": "on",
    "off": "off",
    "n": "n",
    "True": "true",
    "FALSE": "false",
    "1:30": "1:30",
    "0777": "511",
    "0o17": "15",
    "08": "8",
    "0x1F": "31",
    "1_000": "1000",
    "+1": "1",
    "-0.5": "-0.5",
    "1e3": "1000",
    ".5": "0.5",
    "1.0": "1",
    "1.32": "1.32",
    "1.32.7": "1.32.7",
    "2024-01-01": "2024-01-01 00:00:00 +0000 UTC",
    "2024-02-30": "2024-02-30",
    "": "",
    "~": "",
    "null": "",
    "'5'": "5",
    '"0777"': "0777",
    "'true'": "true",
    "!!str 5": "5",
    "10.0.0.0/16": "10.0.0.0/16",
    "a=b,c=d": "a=b,c=d",
    "https://a:8/#b # c": "https://a:8/#b",
    "it's": "it's",
}
REFUSED = (
    "config: {a: b, a: c}",
    "config: {a: b, 'a': c}",
    "config: {a: {b: 1, b: 2}}",
    "config: {a: {{ b }}}",
    "config: {a: {<<: 5}}",
    "config: []",
    "config: ''",
    "x",
    "- a",
    "a: *nowhere",
    "config: {a: b",
    "config:\n\ta: b",
    "config: {a: 'b}",
    "config:\n  a: b\n c: d",
    "config: a: b",
    "config: {a: @b}",
    "config:\n  a: %b",
    "config:\n  a: [b\n  c: d",
    "config:\n  a:\n  - b\n   c: d",
)
TAKEN = (
    "",
    "---",
    "# nothing",
    "config:",
    "---\nconfig: {a: b} # c",
    "config: {a: &x 1, c: *x}",
    "x: &x {b: 1, c: 2}\nconfig: {a: {<<: *x, b: 3}}",
    "x: &x {b: 1}\ny: &y {b: 2, c: 3}\nconfig: {a: {<<: [*x, *y]}}",
    "config: {a: {1: a, true: c}}",
    "config: {a: {secure: [x]}, b: {c: d, secure: x}}",
    "config: {a: {secure: x}, 'b:c': d}",
    "config:\n  a: |\n    one\n    two\n",
    "config:\n  a: >-\n    one\n    two\n",
    "config:\n  a: one\n    two\n",
    "config:\r\n  a: b\r\n  c:\r\n  - d\r\n",
    "\ufeffconfig: {a: b}",
    'config: {"a": "\\u00e9\\x41\\n"}',
    "encryptionsalt: x\nnosuch: [a]",
    "environment: []",
    "config: {a: [1, ~, [], {}, {b: }]}",
    "config:\n  a:\n  - b: c\n    d: 'e'\n  -   f\n",
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
    assert as_engine_config(file.config) == {"aks-gpu:a": value}


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


@pytest.mark.parametrize(
    "text",
    [
        *SCALARS.values(),
        "yes",
        "0777",
        "08",
        "1e3",
        ".5",
        "<<",
        "~",
        "a: b",
        "# a",
        "- a",
        "a\nb\n",
    ],
)
def test_what_is_written_is_read_back(text: str) -> None:
    """A copy of a stack file that was written by YAML 1.1 said other numbers to Pulumi."""
    content = {"config": {"aks-gpu:a": text, "aks-gpu:b": {text: [text, 3, True, None, 0.5]}}}
    assert parse(to_yaml(content), "x").content == content


@pytest.mark.nightly
def test_what_people_write_means_the_same_to_pulumi(engine: Engine, tmp_path: Path) -> None:
    pulumi = _Pulumi(engine, tmp_path)
    scalars = [f"config:\n  a: {text}\n  b: [{text}]\n" for text in SCALARS if text[-1:] != "c"]
    copies = [to_yaml({"config": {"a": text, "b": [text]}}) for text in SCALARS]
    differ = []
    for text in dict.fromkeys([*REFUSED, *TAKEN, *scalars, *copies]):
        values = pulumi.read(text)
        file = read(text)
        ours = as_engine_config(file.config) if file else None
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
