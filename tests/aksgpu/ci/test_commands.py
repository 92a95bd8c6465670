"""What the workflows start, with stand-ins for what that starts in turn."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
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
REVIEW = [sys.executable, "-S", "-m", "aksgpu.ci.review"]
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
        shutil.copytree(ROOT / "aksgpu" / "ci", folder / "aksgpu" / "ci")
        for shared in ("allowances.py", "outcome.py", "running.py", "stack_names.py"):
            shutil.copy(ROOT / "aksgpu" / shared, folder / "aksgpu")
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


def test_up_runs_with_the_policy_pack(checkout: Checkout) -> None:
    script = [str(checkout.folder / ".ci" / "up")]
    quietly = ["--yes", "--non-interactive", "--suppress-permalink=true"]
    up = ["up", "--stack", "dev", *quietly, "--policy-pack", "policies"]
    assert checkout.run(script, STACK="dev") == (0, up)

    (checkout.folder / "Pulumi.dev.policies.json").touch()
    configured = [*up, "--policy-pack-config", "./Pulumi.dev.policies.json"]
    assert checkout.run(script, STACK="dev") == (0, configured)
    assert checkout.run(script, STACK="dev", EXIT="255")[0] == 255
    (checkout.folder / "Pulumi.yaml").write_text("stackConfigDir: a folder\n")
    (checkout.folder / "a folder").mkdir()
    (checkout.folder / "a folder" / "Pulumi.prod.eu.policies.json").touch()
    assert checkout.run(script, STACK="dev")[1][-1] == "policies"
    configured = ["--policy-pack-config", "a folder/Pulumi.prod.eu.policies.json"]
    assert checkout.run(script, STACK="prod.eu")[1][-2:] == configured
    assert checkout.run(script)[0] != 0


@pytest.mark.parametrize("module", ["review", "stacks"])
def test_modules_that_run_without_an_installation_need_none(module: str) -> None:
    # No `site`: the standard library and this checkout, as on a runner.
    look = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import aksgpu.ci.{module}"

    subprocess.run([sys.executable, "-I", "-S", "-c", look], check=True)
