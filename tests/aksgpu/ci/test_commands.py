"""What the workflows start, with stand-ins for what that starts in turn."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from aksgpu.main import app
from tests.bench import ROOT

# Tells its arguments, and does what `aksgpu review` does in every case.
STAND_IN = """#!{python}
import os, pathlib, sys
pathlib.Path(os.environ["TOLD"]).write_text("\\n".join(sys.argv[1:]))
for word in sys.argv:
    if word.startswith("--markdown=") and "NO_REPORT" not in os.environ:
        pathlib.Path(word.partition("=")[2]).write_text("the report\\n")
sys.exit(int(os.environ.get("EXIT", "0")))
"""
# Tells each call as a line, and previews a step that PREVIEW names.
PULUMI = """#!{python}
import json, os, sys
with open(os.environ["TOLD"], "a") as told:
    told.write(" ".join(sys.argv[1:]) + "\\n")
if "--json" in sys.argv:
    op, name, changed = os.environ.get("PREVIEW", "update gpu count").split()
    urn = "urn:pulumi:dev::aks-gpu::x:y:Z$a:b:Pool::" + name
    print(json.dumps({{"steps": [{{"op": op, "urn": urn, "detailedDiff": {{changed: {{}}}}}}]}}))
sys.exit(int(os.environ.get("EXIT", "0")))
"""
# Tells each call, and keeps the body of an issue.
GH = """#!/bin/sh
echo "$@" >> "$TOLD"
[ "$2" != list ] || echo "$OPEN"
for word in "$@"; do
    [ ! -f "$word" ] || cp "$word" body
done
"""
# Tells each call; as an environment's own python, it prints a folder too.
PYTHON = """#!/bin/sh
echo "$@" >> "$TOLD"
case "$2" in
    venv) cp "$0" .venv/bin/python; cp "$0" .venv/bin/pip ;;
    machine_setup) echo /pinned ;;
esac
"""
REVIEW = ["env", "PYTHONPATH=tools", sys.executable, "-S", "-m", "aksgpu.ci.review"]
FORMATS = [
    "--markdown=build/report/review.md",
    "--json=build/report/review.json",
]


class Checkout:
    """A folder with what the workflows start; everything that this starts is a stand-in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary = folder / "summary"
        shutil.copytree(ROOT / ".ci", folder / ".ci")
        shutil.copytree(ROOT / "tools" / "aksgpu" / "ci", folder / "tools" / "aksgpu" / "ci")
        for shared in ("allowances.py", "outcome.py", "running.py", "stack_names.py"):
            shutil.copy(ROOT / "tools" / "aksgpu" / shared, folder / "tools" / "aksgpu")
        for command in (folder / ".venv" / "bin" / "aksgpu", folder / "bin" / "pulumi"):
            command.parent.mkdir(parents=True)
            command.write_text(STAND_IN.format(python=sys.executable))
            command.chmod(0o755)

    def run(self, command: list[str], **environment: str) -> tuple[int, list[str]]:
        """Its exit code, and what was given to what it started."""
        record = self.folder / "told"
        record.unlink(missing_ok=True)
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env={
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "TOLD": str(record),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                **environment,
            },
            check=False,
        )
        return ended.returncode, record.read_text().splitlines() if record.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_review_takes_the_stacks_and_writes_every_format(checkout: Checkout) -> None:
    code, calls = checkout.run([*REVIEW, "--offline"], STACKS='["dev", "prod.eu"]')

    assert code == 0
    assert calls == ["review", "--offline", "--stack=dev", "--stack=prod.eu", *FORMATS]
    assert checkout.summary.read_text() == "the report\n"


def test_a_label_allows_one_loss_of_its_commit(checkout: Checkout) -> None:
    """Once it had a pool's name alone: it held for every stack, and for all that came later."""
    commit = "1a2b3c4d" + "0" * 32
    labels = [
        "bug",
        "replace:dev/gpu@1a2b3c4",
        f"policies:dev@{commit}",
        "delete:dev/--offline@1a2b3c4d",
        # Of another commit, of none, of a stack that is not reviewed, and no allowances at all.
        "replace:dev/other@7654321",
        "replace:dev/another",
        "replace:prod/gpu@1a2b3c4",
        "replace:@1a2b3c4",
        "replace:gpu",
    ]

    calls = checkout.run(REVIEW, STACKS='["dev"]', LABELS=json.dumps(labels), COMMIT=commit)[1]

    allowed = ["replace:dev/gpu", "policies:dev", "delete:dev/--offline"]
    options = [f"--allow={one}" for one in allowed]
    assert calls == ["review", "--stack=dev", *options, *FORMATS]


@pytest.mark.parametrize("commit", ["", "1a2b3c", "main"])
def test_labels_without_a_commit_are_ignored(checkout: Checkout, commit: str) -> None:
    calls = checkout.run(
        REVIEW, STACKS='["dev"]', LABELS='["replace:dev/gpu@1a2b3c4"]', COMMIT=commit
    )[1]
    assert calls == ["review", "--stack=dev", *FORMATS]


@pytest.mark.parametrize("code", ["1", "31"])
def test_a_review_that_fails_is_in_the_summary_and_fails(checkout: Checkout, code: str) -> None:
    assert checkout.run(REVIEW, STACKS='["dev"]', EXIT=code)[0] == int(code)
    assert checkout.summary.read_text() == "the report\n"


def test_a_review_without_a_report_fails_with_its_own_exit_code(checkout: Checkout) -> None:
    assert checkout.run(REVIEW, STACKS='["dev"]', EXIT="3", NO_REPORT="1")[0] == 3


@pytest.mark.parametrize("stacks", ["", "nonsense", "[]"])
def test_no_stack_is_reviewed_without_a_list_of_stacks(checkout: Checkout, stacks: str) -> None:
    code, calls = checkout.run(REVIEW, STACKS=stacks)

    assert code != 0
    assert calls == []


def test_the_review_has_the_options_that_the_workflows_use() -> None:
    help_text = CliRunner().invoke(app, ["review", "--help"], env={"COLUMNS": "200"}).output

    for option in ("--offline", "--base", "--allow", "--stack", "--markdown", "--json"):
        assert option in help_text


@pytest.fixture
def deploying(checkout: Checkout) -> Checkout:
    """A checkout whose pulumi previews one change, or what PREVIEW says."""
    pulumi = checkout.folder / "bin" / "pulumi"
    pulumi.write_text(PULUMI.format(python=sys.executable))
    return checkout


def test_up_does_what_was_approved_with_the_policy_pack(deploying: Checkout) -> None:
    """Approvers had agreed to a preview of the pull request, which could be weeks old."""
    folder = deploying.folder
    up = [str(folder / ".ci" / "up")]
    pack = ["--policy-pack", "policies"]
    quietly = ["--yes", "--non-interactive", "--suppress-permalink=true"]

    code, told = deploying.run([str(folder / ".ci" / "approve")], STACK="dev")
    assert (code, told[0]) == (0, " ".join(
        ["preview --stack dev --diff --non-interactive --suppress-permalink=true", *pack]
    ))  # fmt: skip
    assert "    update a:b:Pool gpu: count\n" in deploying.summary.read_text()
    assert (folder / "build/plan/dev.txt").read_text() == "update a:b:Pool gpu: count\n"

    code, told = deploying.run(up, STACK="dev")
    assert (code, told[-1]) == (0, " ".join(["up", "--stack", "dev", *quietly, *pack]))
    # Another resource, another property, another operation.
    for step in ("delete other count", "update gpu size", "replace gpu count"):
        code, told = deploying.run(up, STACK="dev", PREVIEW=step)
        assert (code, told) == (1, ["preview --stack dev --json --non-interactive"])
    assert deploying.run(up, STACK="dev", EXIT="255")[0] == 1
    assert deploying.run(up)[0] != 0


def test_what_was_not_planned_is_not_updated(deploying: Checkout) -> None:
    code, told = deploying.run([str(deploying.folder / ".ci" / "up")], STACK="dev")
    assert code == 1
    assert not [line for line in told if line.startswith("up")]


def test_the_policy_pack_runs_in_the_stacks_own_configuration(deploying: Checkout) -> None:
    script = [str(deploying.folder / ".ci" / "approve")]
    assert deploying.run(script, STACK="dev")[1][0].endswith("--policy-pack policies")
    (deploying.folder / "Pulumi.dev.policies.json").touch()
    told = deploying.run(script, STACK="dev")[1][0]
    assert told.endswith(" --policy-pack-config Pulumi.dev.policies.json")


def test_drift_is_previewed_with_refresh(deploying: Checkout) -> None:
    script = [str(deploying.folder / ".ci" / "plan"), "build/plan/dev.txt", "--refresh"]
    assert deploying.run(script, STACK="dev", PREVIEW="refresh gpu count")[0] == 0
    assert (deploying.folder / "build/plan/dev.txt").read_text() == ""
    assert deploying.run(script, STACK="dev")[1] == [
        "preview --stack dev --json --non-interactive --refresh"
    ]
    assert (deploying.folder / "build/plan/dev.txt").read_text() != ""
    assert deploying.run(script, STACK="dev", EXIT="255")[0] == 1


@pytest.mark.parametrize(
    ("drifted", "open_issue", "told"),
    [
        (True, "", "issue create --title Stacks differ from Azure --body-file"),
        (True, "7", "issue edit 7 --body-file"),
        (False, "7", "issue close 7 --comment No stack differs from Azure any more."),
        (False, "", None),
    ],
)
def test_there_is_one_issue_about_drift(
    checkout: Checkout, drifted: bool, open_issue: str, told: str | None
) -> None:
    """Nobody learned of what had been changed by hand before the next update undid it."""
    gh = checkout.folder / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    plans = checkout.folder / "build" / "plan"
    plans.mkdir(parents=True)
    (plans / "dev.txt").write_text("update a:b:Pool gpu: maxCount\n" * drifted)
    (plans / "prod.txt").write_text("")

    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "drift.yml").read_text())
    script = ["bash", "-c", workflow["jobs"]["issue"]["steps"][-1]["run"]]
    code, calls = checkout.run(script, OPEN=open_issue)

    assert code == 0
    assert calls[0].startswith("issue list")
    assert [call for call in calls[1:2] if not call.startswith(told or "-")] == []
    assert len(calls) == (1 if told is None else 2)
    if drifted:
        body = (checkout.folder / "body").read_text()
        assert "## dev" in body
        assert "    update a:b:Pool gpu: maxCount" in body
        assert "## prod" not in body


def test_a_job_with_credentials_gets_only_what_is_pinned(checkout: Checkout) -> None:
    """Its requirements with their hashes, without those of development; its tools before others."""
    python = checkout.folder / "bin" / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    path = checkout.folder / "path"
    path.write_text("before\n")
    script = [str(checkout.folder / ".ci" / "deployment-tools")]

    code, calls = checkout.run(script, GITHUB_PATH=str(path))

    assert code == 0
    assert calls[0] == "-m venv .venv"
    assert calls[1].startswith("install ")
    assert calls[1].endswith("--require-hashes --only-binary :all: -r tools/requirements.txt")
    assert calls[2:] == ["-m machine_setup deploying"]
    assert path.read_text() == "before\n/pinned\n"


def test_preflight_ends_as_the_command_does(checkout: Checkout) -> None:
    python = checkout.folder / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$@" > "$TOLD"\nexit 3\n')
    python.chmod(0o755)
    code, [told] = checkout.run([str(checkout.folder / ".ci" / "preflight")], STACK="prod.eu")
    assert code == 3
    assert told.endswith("main() preflight --stack prod.eu")


@pytest.mark.parametrize("module", ["azure", "plan", "review", "stacks"])
def test_modules_that_run_without_an_installation_need_none(module: str) -> None:
    # No `site`: the standard library and this checkout, as on a runner.
    look = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import aksgpu.ci.{module}"

    subprocess.run([sys.executable, "-I", "-S", "-c", look], check=True)
