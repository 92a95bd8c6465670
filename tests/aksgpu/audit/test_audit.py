"""Stacks by what is stored of them: what retires, in which order they are told, and what is odd."""

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aks_catalogue.secrecy import MARKED, SIGNATURE
from aksgpu.audit import command, report
from aksgpu.audit.calendar import Retirement, retirements
from aksgpu.audit.command import _costs as costs_of
from aksgpu.audit.report import Audit, Cost
from aksgpu.audit.stacks import Audited, Auditor, Broken
from aksgpu.main import app
from aksgpu.outcome import Cause, StoppedError
from aksgpu.report import as_json
from aksgpu.review.costs import PriceSource
from aksgpu.review.model import Span
from aksgpu.running import Program
from tests.aksgpu.review.price_list import price_list
from tests.aksgpu.review.reviews import A100, CPU, T4

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


def of(*stacks: Audited) -> Audit:
    return Audit(stacks, [], {}, "USD", "", TODAY)


def written(audit: Audit) -> Json:
    """The document as a program reads it."""
    document: Json = json.loads(as_json(report.document(audit)))
    return document


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


def test_a_separate_pool_has_the_support_plan_of_its_cluster() -> None:
    """The pools of a cluster with long-term support ended a year early."""
    version: Json = {"resourceGroupName": "G", "orchestratorVersion": "1.34"}
    lasting: Json = {"resourceGroupName": "g", "supportPlan": "AKSLongTermSupport"}
    cluster = resource("c", "ManagedCluster", resourceName="One", **lasting)
    assert ends(cluster, resource("gpu", resourceName="one", **version)) == [
        ("2027-11-30", "Kubernetes 1.34")
    ]
    assert ends(cluster, resource("gpu", resourceName="two", **version)) == [
        ("2026-11-30", "Kubernetes 1.34")
    ]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"urn": None, "type": None},
        resource("x", vmSize=None, orchestratorVersion=7, agentPoolProfiles="none"),
        resource("x", "ManagedCluster", {"azureApiVersion": "2025"}),
        # No such day, which ended the whole audit, and a day whose end has no date.
        resource("x", "ManagedCluster", {"azureApiVersion": "2025-13-45-preview"}),
        resource("x", "ManagedCluster", {"azureApiVersion": "9999-12-31-preview"}),
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
    costs = {"fine": Cost(Span(Fraction(1), Fraction(2)))}
    audit = Audit(stacks, ending, costs, "USD", "", TODAY)
    assert [row[0] for row in audit.rows()] == ["unread", "broken", "ending", "fine"]
    assert audit.rows()[0] == ("unread", "0", "0", "?", "?", "?", "")
    assert audit.total() == (
        "All nodes together cost at least 1.00 to 2.00 USD an hour: no price for unread."
    )
    assert audit.verdict is Cause.UNANSWERED
    assert "kubeconfig" not in audit.verdict.sentence
    text = report.as_markdown(audit)
    assert "- 2027-03-31: Kubernetes 1.35 ends, in ending (c)" in text
    assert "- broken, gpu, a-rule (mandatory): is wrong" in text
    document = written(audit)
    assert document["calendar"][0]["day"] == "2027-03-31"
    assert [stack["reason"] for stack in document["stacks"]][-1]
    assert Audit([stacks[2]], [], {}, "", "", TODAY).verdict is Cause.RULE_BROKEN


def test_a_name_cannot_be_markup() -> None:
    stacks = [Audited("<b>|x", broken=[Broken("r", False, "`a`", "[l](http://x)")])]
    text = report.as_markdown(Audit(stacks, [], {}, "", "x", TODAY))
    assert "<b>" not in text
    assert "`a`" not in text
    assert "](http" not in text


def auditor(folder: Path, *program: str) -> Auditor:
    return Auditor(Program(program or ("false",), folder), folder, folder, lambda _: None)


def export(folder: Path, *resources: Json, name: str = "stack") -> Path:
    file = folder / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"deployment": {"resources": resources}}))
    return file


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the file cannot be read: No such file or directory"),
        ("[" * 100_000, "it is no export of a stack: maximum recursion depth exceeded"),
        ('{"x": ' * 400 + "1" + "}" * 400, "it has no deployment"),
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


def test_without_a_backend_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    """It said: PULUMI_ACCESS_TOKEN must be set, do as it says."""
    said = "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions"
    with pytest.raises(StoppedError, match="PULUMI_ACCESS_TOKEN must be set") as stopped:
        auditor(tmp_path, "sh", "-c", f"echo '{said}' >&2; exit 3").of_backend()
    (finding,) = stopped.value.findings
    assert finding.cause is Cause.PROGRAM_FAILED
    for way in ("pulumi login file://FOLDER", "aksgpu env", "pulumi stack export"):
        assert way in finding.advice


def test_a_stack_without_resources_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"deployment": {}}')
    assert auditor(tmp_path).of_files([file]) == [Audited("empty")]


def test_a_pack_that_takes_too_long_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time limit of one stack ended the whole audit."""
    monkeypatch.setattr("aksgpu.audit.stacks.READ_SECONDS", 0.1)
    slow = auditor(tmp_path, "sh", "-c", "exec sleep 20")
    (found,) = slow.of_files([export(tmp_path, resource("gpu"))])
    assert found.reason.startswith("the pack cannot judge it: ")
    assert found.reason.endswith("did not end in 0 s")
    assert len(found.resources) == 1


def test_a_pack_that_fails_after_an_advisory_finding_has_failed(tmp_path: Path) -> None:
    """Whatever it had told before counted as all that it had to tell."""
    event = {"policyEvent": {"policyName": "a-rule", "enforcementLevel": "advisory"}}
    program = ("sh", "-c", f"echo '{json.dumps(event)}'; echo 'error: it broke' >&2; exit 1")
    (found,) = auditor(tmp_path, *program).of_files([export(tmp_path, resource("gpu"))])
    assert found.reason.startswith("the pack cannot judge it: ")
    assert found.reason.endswith("error: it broke")
    assert [one.rule for one in found.broken] == ["a-rule"]


def test_secrets_are_masked_before_anything_reads_them(tmp_path: Path) -> None:
    """An export with --show-secrets had its secrets in the report, and in the pack's messages."""
    secret = {SIGNATURE: MARKED, "plaintext": '"TOPSECRET"'}
    size = {SIGNATURE: MARKED, "ciphertext": "v1:TOPSECRET"}
    file = export(tmp_path, resource("gpu", agentPoolName=secret, vmSize=size, taints=[secret]))
    # The copy that the pack is asked about goes to the test by way of the reason.
    program = ("sh", "-c", 'tail -n 1 "$5" >&2; exit 1', "pulumi")
    (found,) = auditor(tmp_path, *program).of_files([file])
    ((pool, _),) = found.pools
    assert (pool.name, pool.vm_size) == ("[secret]", "[secret]")
    assert '"taints": ["[secret]"]' in found.reason
    assert "TOPSECRET" not in json.dumps(written(of(found)))


def test_what_waits_for_its_deletion_is_no_pool(tmp_path: Path) -> None:
    """A pool that was replaced counted twice until the old one was gone."""
    old = {**resource("gpu", vmSize="Standard_NC6"), "delete": True}
    file = export(tmp_path, old, resource("gpu", vmSize="Standard_NC8as_T4_v3"))
    (found,) = auditor(tmp_path, "true").of_files([file])
    assert [pool.vm_size for pool, _ in found.pools] == ["Standard_NC8as_T4_v3"]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """a/prod.json and b/prod.json had one cost and one end: those of the last."""
    first, second = (export(tmp_path, name=f"{folder}/prod") for folder in "ab")
    other = export(tmp_path, name="a/dev")
    found = auditor(tmp_path).of_files([first, second, other, first])
    assert [stack.name for stack in found] == [str(first), str(second), "dev"]


GROUP = {"resourceGroupName": "g", "resourceName": "c"}
IN: Json = {**GROUP, "count": 1}


def priced(prices: dict[str, float], *stacks: Audited) -> Audit:
    with price_list(prices) as address:
        found = costs_of(stacks, PriceSource(address))
    return Audit(stacks, [], *found, TODAY)


def test_a_sum_without_some_of_its_pools_says_so() -> None:
    """A stack with one unpriced pool of three showed the sum of two; one without pools, a `?`."""
    home = resource("c", "ManagedCluster", None, **GROUP, location="East US")
    pools = [resource(size, vmSize=size, agentPoolName=size[-4:], **IN) for size in (CPU, T4, A100)]
    stacks = [Audited("prod", [home, *pools]), Audited("none"), Audited("unread", reason="why")]
    audit = priced({CPU: 0.25, T4: 0.75}, *stacks)
    assert {row[0]: row[3] for row in audit.rows()} == {
        "prod": "at least 1.00",
        "none": "0.00",
        "unread": "?",
    }
    assert audit.total() == (
        "All nodes together cost at least 1.00 USD an hour: no price for 0_v4 of prod and unread."
    )
    by_name = {stack["name"]: stack for stack in written(audit)["stacks"]}
    assert by_name["prod"]["unpriced"] == ["0_v4"]
    assert by_name["none"]["hourly"] == [0, 0]
    assert by_name["unread"]["hourly"] is None
    whole = priced({CPU: 0.25, T4: 0.75, A100: 3.5}, *stacks[:2])
    assert whole.total() == "All nodes together cost 4.50 USD an hour."
    assert priced({}, stacks[1]).total() == "All nodes together cost 0.00 an hour."


@pytest.mark.parametrize(
    ("location", "why"), [("eastus", "no price for gpu of s"), (None, "no pool has a region")]
)
def test_what_no_pool_costs_has_a_reason(location: str | None, why: str) -> None:
    """The sentence ended before the reason: "is not known: ."."""
    home = resource("c", "ManagedCluster", None, **GROUP, location=location)
    audit = priced({}, Audited("s", [home, resource("gpu", vmSize=T4, **IN)]))
    assert audit.total() == f"What the nodes cost is not known: {why}."
    assert audit.rows()[0][3] == "?"
    assert written(audit)["stacks"][0]["hourly"] is None


def test_a_list_that_does_not_answer_is_the_reason() -> None:
    home = resource("c", "ManagedCluster", None, **GROUP, location="eastus")
    stack = Audited("s", [home, resource("gpu", vmSize=T4, **IN)])
    found = costs_of([stack], PriceSource("http://127.0.0.1:1/prices"))
    total = Audit([stack], [], *found, TODAY).total()
    assert total.startswith("What the nodes cost is not known: the price list cannot be read: ")


def test_a_report_that_has_no_folder_is_refused_first(tmp_path: Path) -> None:
    """After the whole audit there was a traceback, and no report."""
    for file in (tmp_path / "none" / "x.md", tmp_path):
        ended = CliRunner().invoke(app, ["audit", "x.json", "--markdown", str(file)])
        assert ended.exit_code == 2
        assert "cannot be written" in " ".join(ended.output.replace("│", " ").split())


def test_a_report_that_cannot_be_written_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ensure_engine", lambda: None)
    monkeypatch.setattr(command, "pulumi_in", lambda *_: Program(("false",), tmp_path))
    with pytest.raises(OSError, match="No space left"):
        command.audit([export(tmp_path)], tmp_path, Path("/dev/full"), as_json=False)
    assert "Result: fine" in capsys.readouterr().out
