"""Whatever bytes a stack file has, every command says what is wrong, and none has a traceback."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from aksgpu import rehearsal_stage
from aksgpu.check import command as checking
from aksgpu.check.examination import CheckOptions
from aksgpu.outcome import Cause, StoppedError
from aksgpu.preflight import command as asking
from aksgpu.preflight import stack_file
from aksgpu.rehearse import command as rehearsing
from aksgpu.rehearse.planning import rows_of_rules
from aksgpu.rehearse.take_over import take_over
from aksgpu.report import ReportConsole, exit_code_of
from aksgpu.review import command as reviews
from aksgpu.review import offline, reviewing
from aksgpu.review.reviewing import ReviewOptions
from machine_setup import Engine
from rehearsal.cloud import CloudError
from stack_settings.stack_file import StackFileError
from tests.bench import ROOT

REAL = [(ROOT / f"Pulumi.{stack}.yaml").read_bytes() for stack in ("dev", "prod")]
PIECES = b"- |: |\t|&a |*a|!!python/object |<<: |'|{|\xff|%".split(b"|")


def damaged(written: bytes, place: int, take: int, put: bytes) -> bytes:
    place %= len(written)
    return written[:place] + put + written[place + take :]


contents = st.binary(max_size=40) | st.builds(
    damaged,
    st.sampled_from(REAL),
    st.integers(0, 2000),
    st.integers(0, 12),
    st.sampled_from(PIECES),
)


def not_here(*_: Any, **__: Any) -> NoReturn:
    """In place of what a command does with a stack file that it has taken."""
    raise CloudError("not in this test")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in which no command gets farther than its stack files."""
    (tmp_path / "Pulumi.yaml").write_bytes((ROOT / "Pulumi.yaml").read_bytes())
    (tmp_path / ".rehearsal" / "project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKS_GPU_REHEARSAL_ROOT", str(tmp_path))
    for module in (asking, offline, rehearsal_stage, rehearsing, reviewing):
        monkeypatch.setattr(module, "PROGRAM", tmp_path)
    for module in (asking, checking, rehearsing):
        monkeypatch.setattr(module, "set_stage", not_here)
    monkeypatch.setattr(asking, "_examine", not_here)
    monkeypatch.setattr(offline, "start_cloud", not_here)
    monkeypatch.setattr(reviewing, "ensure_engine", lambda _: Engine(Path("pulumi"), "3", "path"))
    return tmp_path


def commands(folder: Path) -> Mapping[str, Callable[[], int]]:
    options = ReviewOptions(stacks=["any"], project=folder, offline=True, base="", allowed=())
    return {
        "rehearse": lambda: rehearsing.rehearse("any", ReportConsole()),
        "env": lambda: rehearsing.print_environment("any"),
        "preflight": lambda: asking.preflight("any", None, as_json=False),
        "preflight --rehearsal": lambda: asking.preflight("any", rows_of_rules, as_json=False),
        "check --rehearsal": lambda: checking.check("any", None, CheckOptions(), rehearsal=True),
        "review --offline": lambda: reviews.review(options, {}),
    }


def is_refused(folder: Path) -> bool:
    try:
        stack_file.read(folder, "any")
    except (StackFileError, StoppedError):
        return True
    return False


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(b"")
@example(b"[1, 2]")
@example(b"config: [")
@example(b"config: text")
@example(b"\xff\xfe\x00")
@example(b"\x00\x01\x02\x80")
@example(b"a: &a [*a]")
@example(b"config:\n  aks-gpu:gpuPools: {a: 1}\n")
@given(content=contents)
def test_no_stack_file_causes_a_traceback(
    checkout: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    """`make rehearse` met broken YAML with a traceback of a hundred lines, without a file name."""
    file = checkout / "Pulumi.any.yaml"
    file.write_bytes(content)
    refused = is_refused(checkout)
    for name, run in commands(checkout).items():
        code = exit_code_of(run)
        output = "".join(capsys.readouterr())
        assert "Traceback" not in output, (name, output)
        assert "review itself failed" not in output, (name, output)
        assert Cause.CRASHED.word not in output, (name, output)
        # These read the stack file once the rehearsal runs, or never.
        if refused and name not in {"env", "check --rehearsal"}:
            assert code in {1, 3}, (name, output)
            assert "not in this test" not in output, (name, output)
    error = take_over(checkout, checkout / ".rehearsal", "any")
    assert error is None or "Pulumi.any.yaml" in error
