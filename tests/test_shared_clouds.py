"""What lets tests share a cloud and run in any order: own names, and own requests only.

Once a test counted what the tests before it had sent, and passed or failed by their order.
"""

import itertools
from pathlib import Path

import pytest

from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure
from tests.request_log import RequestLog

GROUPS = "/resourceGroups?api-version=2025-04-01"


def test_a_test_reads_only_its_own_requests(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path
) -> None:
    earlier = Azure(engine_cloud)
    earlier.call("GET", GROUPS)

    bench, azure = Bench(engine, engine_cloud, tmp_path), earlier.for_a_test()
    assert bench.requests("GET") == azure.requests("/resourceGroups") == []

    azure.call("GET", GROUPS)
    assert len(bench.requests("GET")) == len(azure.requests("/resourceGroups")) == 1
    assert len(earlier.requests("/resourceGroups")) == 2


def test_a_line_that_is_being_written_is_not_read_yet(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    log = RequestLog(file)
    file.write_text('{"method": "GET"}\n{"method"')
    assert log.lines() == [{"method": "GET"}]


def test_no_unique_name_is_part_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.names._numbers", itertools.count(1))
    made = [unique(word) for _ in range(50) for word in ("group", "group1", "gpu")]
    assert not [(one, other) for one, other in itertools.permutations(made, 2) if one in other]
