"""What the engine tells, sorted: changes, findings, rules that could not run, errors."""

from typing import Any

import pytest
from pulumi.automation.events import DiffKind, PropertyDiff
from pulumi_policy import EnforcementLevel

from aksgpu.review.diagnosis import problems_of
from aksgpu.review.losses import lost_pools
from aksgpu.review.rules import facts_of
from provider_kit.secrecy import MASK
from tests.aksgpu.review.reviews import (
    AGENT_POOL,
    CLUSTER,
    T4,
    counted,
    diagnostic,
    outcome,
    policy,
    pools_of,
    seen,
    span,
    step,
    summary,
)

NOT_RUN = (
    "can't run policy 'a-rule' from policy pack 'another-pack@v0.0.1' during preview: string value "
    "at .osType can't be known during preview\n"
)


def test_each_resource_is_reported_once() -> None:
    preview = seen(
        step("delete-replaced", "a", {}),
        step("replace", "a", {}, {}, keys=["vmSize"]),
        step("create-replacement", "a", {}, {}, keys=["vmSize"]),
        step("create-replacement", "h", {}, {}, keys=["vmSize"]),
        step("replace", "h", {}, {}, keys=["vmSize"]),
        step("delete-replaced", "h", {}),
        step("create", "d", None, {}),
        step("update", "b", {}, {}, diffs=["tags", "count"]),
        step("delete", "c", {}),
        step("import", "e", None, {}),
        step("same", "f", {}, {}),
        step("read", "g", None, {}),
    )

    assert [
        (change.kind, change.resource.name, change.properties) for change in preview.changes
    ] == [
        ("replace", "a", ("vmSize",)),
        ("update", "b", ("count", "tags")),
        ("delete", "c", ()),
        ("create", "d", ()),
        ("import", "e", ()),
        ("replace", "h", ("vmSize",)),
    ]
    assert preview.unchanged == 1


def test_values_that_the_program_did_not_set_are_no_change() -> None:
    preview = seen(
        step("create", "aks-gpu-dev", None, {}, kind="pulumi:pulumi:Stack"),
        step("create", "default_3_29_0", None, {}, kind="pulumi:providers:azure-native"),
        step("create", "kubernetes", None, {}, kind="pulumi:providers:kubernetes"),
    )
    assert [change.resource.name for change in preview.changes] == ["kubernetes"]


def test_a_standalone_pool_is_not_also_inline() -> None:
    """After a refresh each GPU counted twice, and a deletion was two losses."""
    names = {"resourceGroupName": "g", "resourceName": "Aks"}
    there = {"vmSize": T4, "count": 2}

    def refreshed(*pools: str) -> dict[str, Any]:
        return {**names, "agentPoolProfiles": [{"name": name, **there} for name in pools]}

    def own(name: str, **more: str) -> dict[str, Any]:
        return {**names, "resourceName": "aks", "agentPoolName": name, **there, **more}

    all_three = refreshed("kept", "gone", "inline")
    preview = seen(
        step("same", "cluster", all_three, all_three, kind=CLUSTER),
        step("same", "kept", own("kept"), own("kept")),
        step("delete", "gone", own("gone")),
        step("create", "elsewhere", None, own("inline", resourceGroupName="another")),
    )
    steps = preview.steps.values()
    assert counted(pools_of(preview))[T4] == (span(6, 6), span(6, 6))
    assert [lost.pool for lost in lost_pools("dev", steps, [])] == ["gone"]

    # What becomes a pool of its own was inline.
    preview = seen(
        step(
            "update",
            "cluster",
            refreshed("moved"),
            {**names, "agentPoolProfiles": []},
            kind=CLUSTER,
        ),
        step("create", "moved", None, own("moved")),
    )
    assert [lost.kind for lost in lost_pools("dev", preview.steps.values(), [])] == ["forget"]


def test_a_deleted_pool_that_a_refresh_has_left_is_not_counted() -> None:
    """A stack with one GPU node was said to have two, for ever."""
    names = {"resourceGroupName": "g", "resourceName": "Aks"}
    system = {"name": "system", "vmSize": T4, "count": 1}
    left = {"name": "drop", "vmSize": T4, "count": 1, "powerState": {"code": "Running"}}
    cluster = {**names, "agentPoolProfiles": [system, left]}
    preview = seen(step("same", "cluster", cluster, cluster, kind=CLUSTER))
    assert counted(pools_of(preview)) == {T4: (span(1, 1), span(1, 1))}

    # A program that says a power state itself has a pool of its own.
    one, both = ({**names, "agentPoolProfiles": pools} for pools in ([system], [system, left]))
    preview = seen(step("update", "cluster", one, both, kind=CLUSTER))
    assert counted(pools_of(preview)) == {T4: (span(1, 1), span(2, 2))}


def test_a_system_pool_that_was_read_whole_is_counted() -> None:
    """After an import, or Ctrl-C while the cluster was made, costs lacked the system pool."""
    read = {"vmSize": T4, "count": 1, "powerState": {"code": "Running"}}
    pools = [{"name": "system", "mode": "System", **read}, {"name": "drop", "mode": "User", **read}]
    cluster = {"resourceGroupName": "g", "resourceName": "Aks", "agentPoolProfiles": pools}
    preview = seen(step("same", "cluster", cluster, cluster, kind=CLUSTER))
    assert counted(pools_of(preview)) == {T4: (span(1, 1), span(1, 1))}


def test_a_resource_name_may_contain_separators_of_a_urn() -> None:
    (change,) = seen(step("create", "a::b$c", None, {})).changes
    assert change.resource.name == "a::b$c"
    assert change.resource.type == AGENT_POOL


def test_the_innermost_type_of_a_urn_is_reported() -> None:
    kind = f"aks-gpu:components:GpuNodePool${AGENT_POOL}"
    (change,) = seen(step("create", "gpu", None, {}, kind=kind)).changes
    assert change.resource.type == AGENT_POOL


@pytest.mark.parametrize(("level", "mandatory"), [("mandatory", True), ("advisory", False)])
def test_a_finding_has_the_facts_of_its_rule(level: str, *, mandatory: bool) -> None:
    rule, pack = "gpu-pool-linux-only", "aks-gpu-policies"
    facts = facts_of(rule, pack)

    preview = seen(
        policy(f"{facts.description}\nIt runs Windows.\n", level=level, rule=rule, pack=pack)
    )

    (finding,) = preview.findings
    assert (finding.message, finding.mandatory) == ("It runs Windows.", mandatory)
    assert finding.resource is not None
    assert finding.resource.name == "pool"
    assert (finding.severity, finding.remedy, finding.url) == (
        facts.severity,
        facts.remedy,
        facts.url,
    )


def test_rules_of_the_policy_pack_have_remedies() -> None:
    facts = facts_of("gpu-pool-linux-only", "aks-gpu-policies")
    assert facts.description
    assert facts.severity in ("low", "medium", "high", "critical")
    assert facts.remedy


def test_a_rule_of_the_same_name_in_another_pack_is_another_rule() -> None:
    (finding,) = seen(policy("Broken.", rule="gpu-pool-linux-only", name="")).findings
    assert (finding.severity, finding.remedy, finding.resource) == ("", "", None)


def test_a_rule_that_could_not_run_is_no_finding() -> None:
    preview = seen(policy(NOT_RUN, level=EnforcementLevel.ADVISORY.value))

    assert not preview.findings
    (rule,) = preview.not_run
    assert (rule.rule, rule.why) == (
        "a-rule",
        "string value at .osType can't be known during preview",
    )


def test_errors_are_kept_with_their_resource() -> None:
    preview = seen(
        diagnostic("too hot", name="pool"),
        diagnostic("the program failed"),
        diagnostic("preview failed"),
        diagnostic("not an error", severity="warning"),
        diagnostic("the key: -----BEGIN PRIVATE KEY-----\nabc"),
    )
    assert preview.errors == [
        "pool: too hot",
        "the program failed",
        "preview failed",
        f"the key: {MASK}",
    ]


def test_what_only_the_detailed_diff_names_is_reported() -> None:
    """The real pulumi-kubernetes fills nothing else: its drift was not seen, and not restored."""
    path = "spec.template.spec.containers[0].image"
    only: dict[str, Any] = {
        "keys": [],
        "diffs": [],
        "detailed_diff": {path: PropertyDiff(DiffKind.UPDATE, False)},
    }
    preview = seen(outcome("refresh", "p", {}, {}, **only), step("update", "p", {}, {}, **only))
    assert [change.properties for change in preview.changes] == [(path,)]
    assert [how for _, how in preview.reverted_drift] == [(path,)]


def test_reverted_drift_is_reported() -> None:
    preview = seen(
        outcome("refresh", "gone", {}, None),
        outcome("refresh", "changed", {}, {}, keys=["nodeLabels"]),
        outcome("refresh", "other", {}, {}, diffs=["agentPoolProfiles"]),
        outcome("refresh", "same", {}, {}),
        step("create", "gone", None, {}),
        step("update", "changed", {}, {}, diffs=["nodeLabels"]),
        step("update", "same", {}, {}, diffs=["tags"]),
        step("same", "other", {}, {}),
        # Nobody wants it any more either.
        outcome("refresh", "unwanted", {}, None),
    )
    assert [(where.name, how) for where, how in preview.reverted_drift] == [
        ("gone", None),
        ("changed", ("nodeLabels",)),
    ]


def test_what_azure_filled_in_while_it_made_a_resource_is_no_drift() -> None:
    """After Ctrl-C while the cluster was made, thirteen properties were "reverted drift"."""
    unfinished = outcome("refresh", "cluster", {}, {}, diffs=["kind", "networkProfile"])
    assert unfinished.res_outputs_event
    assert unfinished.res_outputs_event.metadata.old
    unfinished.res_outputs_event.metadata.old.init_errors = ["The update was cancelled."]
    assert not seen(unfinished, step("update", "cluster", {}, {})).reverted_drift


@pytest.mark.parametrize(
    ("counts", "before", "after", "is_idle"),
    [
        ({"same": 3}, {"a": 1}, {"a": 1}, True),
        ({"same": 3, "read": 1}, {}, {}, True),
        ({"same": 3, "update": 1}, {}, {}, False),
        # The providers that are there anyway, which no change tells of.
        ({"same": 3, "create": 1}, {}, {}, False),
        ({"same": 3}, {"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_a_preview_without_changes_is_recognized(
    counts: dict[str, int], before: dict[str, Any], after: dict[str, Any], is_idle: bool
) -> None:
    stack = outcome("same", "dev", {}, {}, kind="pulumi:pulumi:Stack")
    assert stack.res_outputs_event
    metadata = stack.res_outputs_event.metadata
    assert metadata.old
    assert metadata.new
    metadata.old.outputs, metadata.new.outputs = before, after
    assert seen(stack, summary(counts)).is_idle == is_idle
    # One that was not seen to its end is not known to be.
    assert not seen(stack).is_idle


def test_what_a_program_says_as_it_ends_is_a_reason() -> None:
    """The report of a program that ended with `SystemExit("words")` did not have the words."""
    failed = diagnostic("error: an unhandled error occurred: the program failed: exit status 1")
    words = diagnostic("the region has no quota\n", "info#err")
    assert seen(diagnostic("warned", "info#err")).errors == []
    assert [problem.what for problem in problems_of(seen(words, failed).errors)] == [
        "the region has no quota"
    ]
    real = diagnostic("error: too hot")
    assert [problem.what for problem in problems_of(seen(words, real, failed).errors)] == [
        "too hot"
    ]
