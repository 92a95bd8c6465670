from aks_catalogue.retirement import has_passed
from aks_catalogue.sizes import gpu_sizes
from policies.rules.gpu_size_retired import gpu_size_retired
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CPU, changed, pool_cases


@pool_cases(
    [
        ({}, []),
        ({"vmSize": CPU}, []),
        ({"vmSize": "Standard_NC9_v9"}, []),
        ({"vmSize": "Standard_NC6"}, [("Standard_NC6", "2023-09-06", "Standard_NC8as_T4_v3")]),
        (
            {"vmSize": "standard_nv8as_v4"},
            [("Standard_NV8as_v4", "2026-09-30", "Standard_NV24ads_V710_v5")],
        ),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_size_retired, pool), expected)


def test_each_size_of_the_table() -> None:
    found = {
        size.name
        for size in gpu_sizes().values()
        if findings(gpu_size_retired, AGENT_POOL.resource(changed({"vmSize": size.name})))
    }
    retired = {size.name for size in gpu_sizes().values() if has_passed(size.retired_on)}
    assert found == retired
    assert retired
