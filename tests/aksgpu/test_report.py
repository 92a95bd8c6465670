"""What is to be copied is never broken over lines; tables fit, and are not cut in a pipe."""

import errno
import io
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aksgpu.outcome import Cause, Finding
from aksgpu.report import ReportConsole, advice_text, exit_code_of, finding_text, table

NODE = "aks-gpu-16475822-vmss000000"
SIZE = "Standard_NC24ads_A100_v4"
COMMAND = f"az quota update --resource-name x --scope /subscriptions/{'0' * 36} --limit-object 8"


def printed(width: int | None) -> str:
    page = io.StringIO()
    console = ReportConsole(file=page, width=width)
    nodes = table("pool", "node", "size", title="Nodes")
    nodes.add_row("gpu", NODE, SIZE)
    console.print(nodes)
    return page.getvalue()


def test_a_table_fits_the_terminal_without_cutting_names() -> None:
    """Names of nodes and sizes were folded into their columns."""
    assert printed(100).splitlines()[2].split() == ["gpu", NODE, SIZE]
    narrow = printed(40)
    assert f"node  {NODE}\n" in narrow
    assert f"size  {SIZE}\n" in narrow


def test_a_name_that_is_longer_than_the_terminal_is_wide_is_not_cut() -> None:
    assert f"node  {NODE}\n" in printed(20)


@pytest.mark.parametrize("columns", ["0", "", "-5", "many"])
def test_a_width_that_is_none_hides_nothing(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """With COLUMNS=0, commands printed nothing, and ended with the exit code 0."""
    monkeypatch.setenv("COLUMNS", columns)
    assert printed(None).splitlines()[2].split() == ["gpu", NODE, SIZE]
    page = io.StringIO()
    terminal = ReportConsole(file=page, force_terminal=True, color_system=None)
    terminal.print(NODE)
    assert NODE in page.getvalue()


def test_a_table_is_not_cut_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert printed(None).splitlines()[2].split() == ["gpu", NODE, SIZE]


def test_a_long_command_is_printed_on_its_own_line() -> None:
    """It was broken over eight lines of a table's cell."""
    finding = Finding(Cause.QUOTA_TOO_SMALL, "too small", f"ask for 8, or run `{COMMAND}`; or `ls`")
    page = io.StringIO()
    ReportConsole(file=page, width=60).print(finding_text(finding), soft_wrap=True)
    lines = [line.strip() for line in page.getvalue().splitlines()]
    assert lines[1:] == ["-> ask for 8, or run the command below; or `ls`", COMMAND]


TEXTS = st.sampled_from(["", "a", "b c" * 20])


@given(st.lists(st.tuples(TEXTS, TEXTS)), TEXTS)
def test_only_commands_are_taken_out_of_an_advice(parts: list[tuple[str, str]], end: str) -> None:
    """What stood between two short commands was taken out, and the rest made no sense."""
    advice = "".join(f"{text}`{command}`" for text, command in parts) + end
    sentence, *commands = advice_text(advice, "").plain.split("\n")
    assert [line[2:] for line in commands] == [each for _, each in parts if len(each) >= 50]
    for command in commands:
        sentence = sentence.replace("the command below", f"`{command[2:]}`", 1)
    assert sentence == advice


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EACCES, "make the file writable"),
        (errno.EROFS, "make the file writable"),
    ],
)
def test_what_the_disk_refuses_is_told_in_a_sentence(
    number: int, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A traceback said that aksgpu had failed."""

    def writes() -> int:
        raise OSError(number, os.strerror(number))

    assert exit_code_of(writes) == Cause.CRASHED.exit_code
    told = capsys.readouterr().err
    assert os.strerror(number) in told
    assert advice in told
    assert "Traceback" not in told


def test_a_reader_that_leaves_does_not_change_the_exit_code() -> None:
    """`aksgpu preflight | head` ended with 1, which says that Azure would refuse something."""
    program = (
        "import sys; from aksgpu.report import ReportConsole, exit_code_of; console = "
        "ReportConsole(); sys.exit(exit_code_of(lambda: [console.print('x' * 99) for _ in "
        "range(9999)] and 3))"
    )
    ended = subprocess.run(
        ["bash", "-c", '"$0" -c "$1" | head -1; exit ${PIPESTATUS[0]}', sys.executable, program],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        # As wide as the pipe.
        env=os.environ | {"COLUMNS": ""},
    )
    assert (ended.returncode, ended.stderr) == (3, "")
    assert ended.stdout == "x" * 99 + "\n"
