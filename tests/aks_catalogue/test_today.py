"""One day by which everything is judged, and nothing beside it that asks the clock for one."""

import ast
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from aks_catalogue.today import TODAY_VARIABLE, today
from tests.bench import ROOT

# What asks the clock for something else than what is retired, and for what.
OTHERS = {
    "tools/aksgpu/preflight/price_list.py": "when prices were asked for, and which hold then",
    "tools/azure_proof/proving.py": "when a proof is to be removed",
    "tools/azure_proof/removal.py": "when a proof is to be removed",
    "aks_catalogue/today.py": "the day itself",
    "tools/machine_setup/cache.py": "what has not been used for long",
    "tools/rehearsal/arm/front.py": "when operations end",
    "tools/rehearsal/arm/login.py": "when tokens end",
    "tools/rehearsal/arm/__main__.py": "when the server started",
    "tools/rehearsal/arm/request_log.py": "when a request came",
    "tools/rehearsal/arm/tokens.py": "when tokens end",
    "tools/rehearsal/certificates.py": "when certificates begin and end",
    "tools/rehearsal/control_planes/containers.py": "when containers start and end",
    "tools/rehearsal/offline_plug_ins/kubelogin/__main__.py": "when a token ends",
}
# Tests that ask it, and for what: all others are given their days.
TESTS = {
    "tests/conftest.py": "the gate ends a run at a moment",
    "tests/gate.py": "the gate ends a run at a moment, and notes the day of a flake",
    "tests/test_gate.py": "a moment that is over",
    "tests/aks_preview/test_signing_in.py": "a certificate is true from now on",
    "tests/aks_catalogue/test_today.py": "the day itself",
    "tests/rehearsal/arm/test_errors.py": "when a token ends",
    "tests/rehearsal/arm/test_sign_in.py": "when tokens end",
    "tests/rehearsal/conftest.py": "when a token ends",
}
# Tests that sleep, or go by how long something took: all others wait for what happens.
WAITING = {
    "tests/gate.py": "how long its parts take",
    "tests/mutants/at_random.py": "how long a mutant may take",
    "tests/aksgpu/audit/test_audit_on_engine.py": "how long an audit of fifty stacks takes",
    "tests/rehearsal/arm/test_faults.py": "an answer that is to come late does not come before",
    "tests/article/commands.py": "how long a command took, and how to wait",
    "tests/waiting.py": "how to wait",
}
CLOCKS = {"now", "today", "utcnow", "time", "gmtime", "localtime"}
NOT_OURS = {".venv", "tests", "benchmarks", "build", ".rehearsal", ".rehearsal-article"}


WAITS = {"sleep", "monotonic", "perf_counter"}


def clocks(source: str, names: Collection[str] = CLOCKS) -> Iterator[str]:
    """The calls that tell the time of day: datetime.now(), date.today(), time.time()..."""
    if not any(f".{name}(" in source for name in names):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = ast.unparse(node.func.value).rpartition(".")[2]
        if node.func.attr in names and owner in ("date", "datetime", "time"):
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "asks",
    ["datetime.now(UTC)", "datetime.datetime.now()", "date.today()", "time.time()"],
)
def test_clocks_finds_every_call_of_the_clock(asks: str) -> None:
    assert list(clocks(f"x = {asks} - y")) == [asks]


def test_only_listed_files_read_the_clock() -> None:
    sources = (path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
    asking = {
        str(path)
        for path in sources
        if not NOT_OURS.intersection(path.parts)
        if list(clocks((ROOT / path).read_text()))
    }
    assert asking == OTHERS.keys()


@pytest.mark.parametrize(("names", "known"), [(CLOCKS, TESTS), (WAITS, WAITING)])
def test_tests_use_fixed_dates_and_wait_for_events(
    names: Collection[str], known: Mapping[str, str]
) -> None:
    """A test that asked the clock failed on another day, and one that slept on a busy machine."""
    asking = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if list(clocks(path.read_text(), names))
    }
    assert asking == known.keys()


def test_today_is_the_clocks_date_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TODAY_VARIABLE, raising=False)
    before = datetime.now(UTC).date()
    assert before <= today() <= datetime.now(UTC).date()


def test_today_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2023-09-05")
    assert today() == date(2023, 9, 5)


@pytest.mark.parametrize("date_text", ["tomorrow", "2026-13-01", "30.11.2026"])
def test_an_invalid_date_is_refused(monkeypatch: pytest.MonkeyPatch, date_text: str) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, date_text)
    with pytest.raises(ValueError, match=f"AKS_GPU_TODAY is '{date_text}': set a date, such as"):
        today()


def test_today_is_passed_to_child_processes() -> None:
    program = "from aks_catalogue.today import today; print(today())"
    output = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, TODAY_VARIABLE: "2030-01-31"},
        cwd=Path(ROOT),
        capture_output=True,
        text=True,
        check=True,
    )
    assert output.stdout.strip() == "2030-01-31"
