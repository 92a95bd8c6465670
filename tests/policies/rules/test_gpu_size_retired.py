from typing import Any

import pytest

from catalogue.sizes import GpuSize, gpu_sizes
from catalogue.today import TODAY_VARIABLE, today
from policies.rules.gpu_size_retired import gpu_size_retired
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import AGENT_POOL, CPU, Form, changed, pool_cases


@pool_cases(
    [
        ({}, []),
        ({"vmSize": CPU}, []),
        ({"vmSize": "Standard_NC9_v9"}, []),
        (
            {"vmSize": "Standard_NC6"},
            [
                "has Standard_NC6, which Azure retired on 2023-09-06. Standard_NC8as_T4_v3 takes "
                "its place."
            ],
        ),
        (
            {"vmSize": "standard_nv8as_v4"},
            [
                "has Standard_NV8as_v4, which Azure retired on 2026-09-30. "
                "Standard_NV24ads_V710_v5 takes its place."
            ],
        ),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_size_retired, form.resource(pool)) == expected


@pytest.mark.parametrize("size", gpu_sizes().values(), ids=lambda size: size.name)
def test_each_size_of_the_table(size: GpuSize) -> None:
    found = findings(gpu_size_retired, AGENT_POOL.resource(changed({"vmSize": size.name})))
    assert len(found) == (size.retired_on is not None and size.retired_on <= today())


@pytest.mark.parametrize(("day", "expected"), [("2026-09-29", 0), ("2026-09-30", 1)])
def test_is_a_matter_of_the_day(monkeypatch: pytest.MonkeyPatch, day: str, expected: int) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, day)
    old = AGENT_POOL.resource(changed({"vmSize": "Standard_NV12s_v3"}))
    assert len(findings(gpu_size_retired, old)) == expected
