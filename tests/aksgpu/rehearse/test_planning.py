"""What a rehearsal would do, as answers: what stands against it names what to do about it."""

from pathlib import Path
from unittest import mock

import pytest

from aksgpu import rehearsal_stage
from aksgpu.outcome import Cause, StoppedError
from aksgpu.rehearse import command, planning, state
from aksgpu.rehearse.planning import Plan
from aksgpu.rehearse.state import State
from aksgpu.report import ReportConsole
from aksgpu.review.preview_result import PreviewResult
from tests.aksgpu.review.reviews import outcome, policy, seen, step, summary

PACK = "aks-gpu-policies"


def refused(**more: str) -> PreviewResult:
    rule = {"rule": "gpu-pool-minimum-size", "pack": PACK}
    return seen(policy("This pool has Standard_NV6ads_A10_v5.", "t4", **{**rule, **more}))


def test_a_refusal_names_rule_pool_setting_and_file() -> None:
    """The rehearsal ended with "What Azure accepted is in the state", and nothing was accepted."""
    (row,) = Plan("team", refused()).rows()
    assert (row.cause, row.pool) == (Cause.RULE_BROKEN, "t4")
    assert "gpu-pool-minimum-size" in row.what
    assert "Standard_NV6ads_A10_v5" in row.what
    for word in ("acceptedSizes", "Pulumi.team.policies.json", "rules.md#gpu-pool-minimum-size"):
        assert word in row.advice


def test_an_advisory_finding_refuses_no_update() -> None:
    (row,) = Plan("team", refused(level="advisory")).rows()
    assert (row.answer, row.cause) == ("ok", None)


def test_drift_is_reported_in_one_line() -> None:
    preview = seen(
        outcome("refresh", "gone", {}, None, kind="kubernetes:apps/v1:DaemonSet"),
        outcome("refresh", "t4", {}, {}, diffs=["nodeLabels"]),
        step("create", "gone", None, {}, kind="kubernetes:apps/v1:DaemonSet"),
        step("update", "t4", {}, {}, diffs=["nodeLabels"]),
    )
    assert Plan("dev", preview).drift == (
        "Drift, which this update reverts: gone (DaemonSet) was deleted; "
        "t4 (AgentPool) had another nodeLabels."
    )
    assert not Plan("dev", seen()).drift


def test_drift_that_azure_native_makes_is_not_laid_to_the_owner() -> None:
    """A second run of an unchanged program told of a drift, and nobody had changed anything."""
    cluster = "azure-native:containerservice:ManagedCluster"
    preview = seen(
        outcome("refresh", "aks", {}, {}, kind=cluster, diffs=["agentPoolProfiles[1]"]),
        step("update", "aks", {}, {}, kind=cluster, diffs=["agentPoolProfiles[1]"]),
    )
    assert "a refresh of azure-native puts pools" in Plan("dev", preview).drift
    preview = seen(
        outcome("refresh", "aks", {}, {}, kind=cluster, diffs=["tags"]),
        step("update", "aks", {}, {}, kind=cluster, diffs=["tags"]),
    )
    assert "azure-native puts" not in Plan("dev", preview).drift


@pytest.mark.parametrize(("others", "refreshes"), [("theirs", False), ("", True)])
def test_a_program_of_others_is_refreshed_only_if_they_ask_for_it(
    monkeypatch: pytest.MonkeyPatch, others: str, refreshes: bool
) -> None:
    """Its owner's `pulumi up` has no refresh, and the rehearsal's found drift by itself."""
    asked = list[bool]()

    def planned(*_: object, refresh: bool) -> None:
        asked.append(refresh)
        raise StoppedError

    monkeypatch.setenv(rehearsal_stage.PROJECT_VARIABLE, others)
    stage = mock.MagicMock()
    stage.project.has_locks.return_value = False
    stage.project.home.__truediv__.return_value.exists.return_value = False
    monkeypatch.setattr(command, "set_stage", lambda *_: stage)
    monkeypatch.setattr(state, "read_or_init", lambda *_: State())
    monkeypatch.setattr(command, "status_of", lambda _: mock.Mock(dead_clusters=[]))
    monkeypatch.setattr(command, "provide_group", lambda *_: None)
    monkeypatch.setattr(command, "plan", planned)
    with pytest.raises(StoppedError):
        command.rehearse("dev", ReportConsole())
    assert asked == [refreshes]


def test_a_plan_is_idle_only_if_it_is_complete() -> None:
    idle = seen(summary({"same": 3}))
    assert Plan("dev", idle).is_idle
    assert not Plan("dev", seen()).is_idle
    idle.findings = refused().findings
    assert not Plan("dev", idle).is_idle


def test_a_replaced_pool_is_reported_in_a_sentence() -> None:
    size = {"vmSize": "Standard_NC8as_T4_v3", "mode": "User", "count": 2}
    (lost,) = Plan("dev", seen(step("replace", "t4", size, size, keys=["vmSize"]))).losses
    assert "The GPU pool t4 (Standard_NC8as_T4_v3, 2 nodes) is replaced" in lost.message
    assert "Azure deletes it" in lost.message


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b"[]", b'{"no-such-rule": "disabled"}'])
def test_mistakes_in_the_policy_configuration_have_their_own_cause(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "Pulumi.dev.policies.json"
    file.write_bytes(content)
    with pytest.raises(StoppedError) as stopped:
        planning.refuse_mistakes(file)
    assert {finding.cause for finding in stopped.value.findings} == {Cause.STACK_FILE_INVALID}
