"""Reviews on the real engine, of a stack that is there: the report says what would happen."""

import base64
import json
import shutil
import sys
from collections.abc import Callable

import pytest
import yaml

from aksgpu.allowances import Allowance
from aksgpu.outcome import Cause
from aksgpu.review import reviewing
from aksgpu.review.model import Review, StackReview
from aksgpu.review.reviewing import ReviewOptions, review_stacks
from tests.aksgpu.review.reviews import counted
from tests.aksgpu.review.test_formats import EVERY
from tests.bench import Bench
from tests.names import unique

pytestmark = pytest.mark.engine

SECRET = "correct-horse-battery"
TOKEN = "0123456789abcdef0123456789abcdef"
KUBECONFIG = f"apiVersion: v1\nkind: Config\nusers: [{{name: a, user: {{token: {TOKEN}}}}}]\n"
ENCODED = base64.b64encode(KUBECONFIG.encode()).decode()

PROGRAM = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")
cluster = aks.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_="c", location="eastus",
    dns_prefix="c", identity={{"type": "SystemAssigned"}},
    agent_pool_profiles=[
        {{"name": "system", "vmSize": "Standard_D4ds_v5", "count": 1, "mode": "System"}}
    ],
)

def pool(name, size, **more):
    aks.AgentPool(
        name, resource_group_name=group.name, resource_name_=cluster.name, agent_pool_name=name,
        vm_size=size, node_taints=["sku=gpu:NoSchedule"], **more,
    )

secret = pulumi.Config("aks-gpu").get("password")
"""
BEFORE = """
pool("larger", "Standard_NC8as_T4_v3", count=2)
pool("gone", "Standard_NC24ads_A100_v4", count=1)
"""
AFTER = """
later = resources.ResourceGroup("later", resource_group_name="later", location="eastus")
pool("larger", "Standard_NC16as_T4_v3", count=2)
pool("windows", "Standard_NC8as_T4_v3", count=1, os_type="Windows",
     tags={"password": pulumi.Output.secret(secret)})
pool("unknown", "Standard_NC8as_T4_v3", count=1, os_type=later.id.apply(lambda an_id: an_id[:5]))
"""
TAGGED = """
import pulumi
from pulumi_azure_native import resources

tags = {"password": pulumi.Config("aks-gpu").require_secret("password")}
resources.ResourceGroup("group", resource_group_name="tagged", location="eastus", tags=tags)
"""


@pytest.fixture
def reviewed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Review]:
    for name, value in bench.environment.items():
        monkeypatch.setenv(name, value)

    def review(*stacks: str, allowed: tuple[Allowance, ...] = ()) -> Review:
        options = ReviewOptions(
            stacks=stacks or ("test",),
            project=bench.folder / "project",
            offline=False,
            base="",
            allowed=allowed,
        )
        return review_stacks(options, lambda _: None)

    return review


def only(review: Review) -> StackReview:
    (stack,) = review.stacks
    return stack


def told_in_any_format(review: Review) -> str:
    return "".join(written(review) for written in EVERY)


def test_a_change_is_reported_as_the_engine_plans(
    bench: Bench, reviewed: Callable[..., Review]
) -> None:
    bench.pulumi("config", "set", "--secret", "aks-gpu:password", SECRET)
    program = PROGRAM.format(group=unique("review"))
    bench.up(program + BEFORE)
    bench.write(program + AFTER)
    workspaces = bench.folder / "pulumi-home" / "workspaces"
    shutil.rmtree(workspaces)

    review = reviewed(allowed=(Allowance("delete", "test", "gone"),))

    stack = only(review)
    changes = {(change.kind, change.resource.name) for change in stack.changes}
    assert changes == {
        ("replace", "larger"),
        ("delete", "gone"),
        ("create", "windows"),
        ("create", "unknown"),
        ("create", "later"),
    }
    assert {(lost.kind, lost.pool, lost.allowed) for lost in stack.lost} == {
        ("replace", "larger", False),
        ("delete", "gone", True),
    }
    broken = {
        (finding.resource and finding.resource.name, finding.severity)
        for finding in stack.findings
        if finding.rule == "gpu-pool-linux-only" and finding.mandatory
    }
    assert [name for name, _ in broken] == ["windows"]
    assert all(severity for _, severity in broken)
    assert "unknown" in [
        rule.resource and rule.resource.name
        for rule in stack.not_run
        if rule.rule == "gpu-pool-linux-only"
    ]
    gpus = counted(stack.pools or ())
    assert {size: (str(before), str(after)) for size, (before, after) in gpus.items()} == {
        "Standard_NC16as_T4_v3": ("0", "2"),
        "Standard_NC24ads_A100_v4": ("1", "0"),
        "Standard_NC8as_T4_v3": ("2", "2"),
    }
    assert stack.verdict is Cause.RULE_BROKEN
    assert SECRET not in told_in_any_format(review)
    # Nobody's selection of a stack has changed.
    assert not workspaces.exists()


OTHER_PACK = """
from pulumi_policy import (
    EnforcementLevel, PolicyConfigSchema, PolicyPack, ResourceValidationPolicy,
)

def tell(args, report):
    if args.resource_type.endswith(":ResourceGroup"):
        said = args.props["tags"]
        report(f"{args.get_config().get('word')}: password {said['password']} of {said}")

PolicyPack("others", [ResourceValidationPolicy(
    name="tells-secrets", description="It tells.", validate=tell,
    enforcement_level=EnforcementLevel.ADVISORY,
    config_schema=PolicyConfigSchema({"word": {"type": "string"}}),
)])
"""


@pytest.mark.long
def test_another_packs_rule_and_configuration_are_used_without_secrets(
    bench: Bench, reviewed: Callable[..., Review], monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = bench.folder / "pack"
    pack.mkdir()
    description = {"runtime": {"name": "python", "options": {"virtualenv": sys.prefix}}}
    (pack / "PulumiPolicy.yaml").write_text(yaml.safe_dump(description))
    (pack / "__main__.py").write_text(OTHER_PACK)
    monkeypatch.setattr(reviewing, "_PACK", pack)
    bench.pulumi("config", "set", "--secret", "aks-gpu:password", SECRET)
    bench.write(TAGGED)
    settings = {"tells-secrets": {"word": "hello", "enforcementLevel": "mandatory"}}
    configuration = bench.folder / "project" / "Pulumi.test.policies.json"
    configuration.write_text(json.dumps(settings))

    review = reviewed()

    (finding,) = only(review).findings
    assert (finding.rule, finding.pack, finding.severity) == ("tells-secrets", "others", "")
    assert finding.mandatory
    assert "hello: password" in finding.message
    assert Cause.RULE_BROKEN in only(review).causes
    # Pulumi passes over what is configured for a rule that the pack does not have: here, ours.
    (problem,) = only(review).problems
    assert (problem.cause, problem.key) == (Cause.STACK_FILE_INVALID, configuration.name)
    assert SECRET not in told_in_any_format(review)


@pytest.mark.long
def test_a_failed_programs_output_is_reported_without_secrets(
    bench: Bench, reviewed: Callable[..., Review]
) -> None:
    bench.pulumi("config", "set", "--secret", "aks-gpu:password", SECRET)
    raising = f"raise ValueError(f'too hot: {{secret}} {ENCODED}' + {KUBECONFIG!r})"
    bench.write(PROGRAM.format(group=unique("raises")) + raising)

    review = reviewed()

    stack = only(review)
    assert stack.verdict is Cause.PREVIEW_FAILED
    assert stack.pools is None
    everything = told_in_any_format(review)
    assert "too hot" in everything
    for secret in (SECRET, TOKEN, ENCODED[:30]):
        assert secret not in everything


@pytest.mark.long
def test_an_unreachable_cloud_is_reported(
    bench: Bench, reviewed: Callable[..., Review], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write('from pulumi_azure_native import resources\nresources.get_resource_group("g")')
    for name in ("ARM_METADATA_HOSTNAME", "AZURE_AUTHORITY_HOST"):
        monkeypatch.setenv(name, "localhost:1")

    assert only(reviewed()).verdict is Cause.AZURE_UNREACHABLE


@pytest.mark.long
def test_each_stack_is_reviewed_separately(bench: Bench, reviewed: Callable[..., Review]) -> None:
    bench.write("")
    (bench.folder / "project" / "Pulumi.broken.yaml").write_text("config: [")

    review = reviewed("test", "nosuch", "broken")

    assert [stack.verdict for stack in review.stacks] == [
        Cause.FINE,
        Cause.STACK_MISSING,
        Cause.STACK_FILE_INVALID,
    ]
    assert review.verdict is Cause.STACK_FILE_INVALID
