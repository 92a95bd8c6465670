"""Where a stack file speaks of what, and what is told of one that cannot be read."""

from pathlib import Path

import pytest

from aksgpu.review.causes import Cause, ReviewError
from aksgpu.review.stack_file import StackFile, read_stack_file

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
    return read_stack_file(path)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("location", 4),
        ("gpuPools", 7),
        ("gpuPools[0].vmSize", 9),
        ("gpuPools[1].name", 11),
        ("gpuPools[1].count", 10),
        ("cluster.name", 6),
        ("nosuch", None),
    ],
)
def test_a_key_has_a_line_or_that_of_what_holds_it(
    file: StackFile, key: str, line: int | None
) -> None:
    assert file.line_of_key(key) == line


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
def test_a_name_has_the_line_where_it_stands(
    file: StackFile, names: tuple[str, ...], line: int | None
) -> None:
    assert file.line_of_name(*names) == line


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    file = read_stack_file(tmp_path / "Pulumi.nosuch.yaml")
    assert file.line_of_key("location") is None
    assert file.line_of_name("gpu") is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"config: [", "it is no YAML"),
        (b"- a\n- b", "it is no map"),
        (b"\xff\xfe", "it cannot be read"),
        (b"config: {a: b", "line 1"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_bytes(content)
    with pytest.raises(ReviewError, match=told) as raised:
        read_stack_file(path)
    assert [problem.cause for problem in raised.value.problems] == [Cause.STACK_FILE_INVALID]
