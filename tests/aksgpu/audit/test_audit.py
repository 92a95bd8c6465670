"""Stacks by what is stored of them: what retires, in which order they are told, and what is odd."""

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from aksgpu.audit import report
from aksgpu.audit.calendar import Retirement, retirements
from aksgpu.audit.report import Audit
from aksgpu.audit.stacks import Audited, Auditor, Broken
from aksgpu.outcome import Cause
from aksgpu.review.model import Span
from aksgpu.running import Program

Json = dict[str, Any]
TODAY = date(2026, 11, 28)


def resource(
    name: str, kind: str = "AgentPool", outputs: Json | None = None, **inputs: Any
) -> Json:
    token = f"azure-native:containerservice:{kind}"
    return {
        "urn": f"urn:pulumi:s::p::{token}::{name}",
        "type": token,
        "inputs": inputs,
        "outputs": outputs or {},
    }


def ends(*resources: Json) -> list[tuple[str, str]]:
    found = retirements([Audited("stack", resources)])
    return [(str(each.day), each.what) for each in found]


def test_what_of_a_stack_ends_and_when() -> None:
    cluster = resource(
        "c",
        "ManagedCluster",
        {"currentKubernetesVersion": "1.34.12", "azureApiVersion": "2025-08-02-preview"},
        agentPoolProfiles=[{"name": "system", "vmSize": "Standard_NC6", "osSKU": "Ubuntu2204"}],
    )
    pool = resource("gpu", vmSize="standard_nc6s_v3", orchestratorVersion="1.33")
    assert ends(cluster, pool) == [
        ("2023-09-06", "VM size Standard_NC6"),
        ("2025-09-30", "VM size Standard_NC6s_v3"),
        ("2026-07-31", "Kubernetes 1.33"),
        ("2026-08-02", "AKS API version 2025-08-02-preview"),
        ("2026-11-30", "Kubernetes 1.34"),
        ("2027-06-30", "node image Ubuntu2204"),
    ]


def test_long_term_support_ends_later() -> None:
    version = {"currentKubernetesVersion": "1.34.12"}
    cluster = resource("c", "ManagedCluster", version, supportPlan="AKSLongTermSupport")
    assert ends(cluster) == [("2027-11-30", "Kubernetes 1.34")]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"urn": None, "type": None},
        resource("x", vmSize=None, orchestratorVersion=7, agentPoolProfiles="none"),
        resource("x", "ManagedCluster", {"azureApiVersion": "2025-99-99-preview"[:4]}),
    ],
)
def test_odd_resources_end_nothing(odd: Json) -> None:
    assert ends(odd) == []


def test_the_largest_risk_is_told_first() -> None:
    broken = Broken("a-rule", True, "gpu", "is wrong")
    stacks = [
        Audited("fine"),
        Audited("ending"),
        Audited("broken", broken=[broken]),
        Audited("unread", reason="it is no export of a stack"),
    ]
    ending = [Retirement(date(2027, 3, 31), "Kubernetes 1.35", "ending", "c")]
    audit = Audit(stacks, ending, {"fine": Span(Fraction(1), Fraction(2))}, "USD", "", TODAY)
    assert [row[0] for row in audit.rows()] == ["unread", "broken", "ending", "fine"]
    assert audit.rows()[0] == ("unread", "0", "0", "?", "?", "?", "")
    assert audit.total() == "All nodes together cost 1.00 to 2.00 USD an hour."
    assert audit.verdict is Cause.STACK_UNREADABLE
    text = report.as_markdown(audit)
    assert "    2027-03 : Kubernetes 1.35, 1 of the stacks" in text
    assert "- **mandatory**: broken, gpu, a-rule: is wrong" in text
    document = report.document(audit)
    assert document["calendar"][0]["day"] == "2027-03-31"
    assert [stack["reason"] for stack in document["stacks"]][-1]
    without = Audit([stacks[2]], [], {}, "", "nobody answered", TODAY)
    assert without.verdict is Cause.RULE_BROKEN
    assert without.total() == "What the nodes cost is not known: nobody answered."


def test_a_name_cannot_be_markup() -> None:
    stacks = [Audited("<b>|x", broken=[Broken("r", False, "`a`", "[l](http://x)")])]
    text = report.as_markdown(Audit(stacks, [], {}, "", "x", TODAY))
    assert "<b>" not in text
    assert "`a`" not in text
    assert "](http" not in text


def auditor(folder: Path) -> Auditor:
    nothing = Program(("false",), folder)
    return Auditor(nothing, folder, folder, lambda _: None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "it is no export of a stack: "),
        ("{", "it is no export of a stack: "),
        ("[]", "it has no deployment"),
        ('{"version": 3}', "it has no deployment"),
        ('{"deployment": {"resources": 7}}', "it has no deployment"),
        (json.dumps({"deployment": {"resources": [{}]}}), "the pack cannot judge it: "),
    ],
)
def test_what_cannot_be_read_is_a_row_with_its_reason(
    tmp_path: Path, content: str | None, reason: str
) -> None:
    file = tmp_path / "stack.json"
    if content is not None:
        file.write_text(content)
    (found,) = auditor(tmp_path).of_files([file])
    assert found.name == "stack"
    assert reason in found.reason


def test_a_stack_without_resources_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"deployment": {}}')
    assert auditor(tmp_path).of_files([file]) == [Audited("empty")]
