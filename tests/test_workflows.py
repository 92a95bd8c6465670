"""The workflows, as somebody reads them who wants to get at their credentials."""

import ast
import builtins
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.ci.azure import VARIABLES
from aksgpu.ci.stacks import TOUCHES_NONE
from aksgpu.running import READ_SECONDS, Program
from tests.bench import ROOT

GITHUB = ROOT / ".github"
FILES = sorted(GITHUB.glob("workflows/*.yml")) + sorted(GITHUB.glob("actions/*/action.yml"))
_PINNED = re.compile(
    r"uses: (?P<action>[\w./-]+)@(?P<commit>[0-9a-f]{40}) # (?P<version>v\d+\.\d+\.\d+)"
)
OWNERS = {"actions", "azure", "github"}

# All that any job may do. Whoever needs more writes it down here too.
PERMISSIONS = {
    ("pull-request", "stacks"): {"contents": "read"},
    ("pull-request", "checks"): {"contents": "read"},
    ("pull-request", "lives"): {"contents": "read"},
    ("pull-request", "contract"): {"contents": "read"},
    ("pull-request", "packages"): {"contents": "read"},
    ("pull-request", "review"): {"contents": "read", "pull-requests": "read"},
    ("pull-request", "preflight"): {"contents": "read", "id-token": "write"},
    ("pull-request", "passed"): {},
    ("pull-request", "comment"): {"pull-requests": "write"},
    ("warm-caches", "warm"): {"contents": "read"},
    ("gpu-operator", "chart"): {"contents": "read"},
    ("deploy", "stacks"): {"actions": "read", "contents": "read"},
    ("deploy", "plan"): {"contents": "read", "id-token": "write"},
    ("deploy", "up"): {"contents": "read", "id-token": "write"},
    ("drift", "stacks"): {"contents": "read"},
    ("drift", "preview"): {"contents": "read", "id-token": "write"},
    ("drift", "audit"): {"contents": "read", "id-token": "write"},
    ("drift", "issue"): {"contents": "read", "issues": "write"},
    ("nightly", "run"): {"contents": "read"},
    ("nightly", "issue"): {"contents": "read", "issues": "write"},
    ("renew-tables", "renew"): {"contents": "read"},
    ("renew-tables", "propose"): {"contents": "write", "pull-requests": "write"},
    ("release", "checks"): {"contents": "read"},
    ("release", "publish"): {"attestations": "write", "contents": "write", "id-token": "write"},
}
# Whose every step has rights that a stranger must not get.
TRUSTED = [job for job, rights in PERMISSIONS.items() if "write" in rights.values() or "up" in job]
# The environment of each job that Azure lets in.
ENVIRONMENTS = {
    ("pull-request", "preflight"): "preview",
    ("deploy", "plan"): "${{ matrix.stack }}-plan",
    ("deploy", "up"): "${{ matrix.stack }}",
    ("drift", "preview"): "${{ matrix.stack }}-plan",
    ("drift", "audit"): "${{ matrix.stack }}-plan",
}


def read(name: str) -> dict[str, Any]:
    """A workflow, with every value as the text that it is."""
    text = (GITHUB / "workflows" / f"{name}.yml").read_text()
    content: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return content


WORKFLOWS = {file.stem: read(file.stem) for file in GITHUB.glob("workflows/*.yml")}
JOBS = {
    (name, job): said
    for name, content in WORKFLOWS.items()
    for job, said in content["jobs"].items()
}


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every step there is, with where it stands."""
    for (name, job), content in JOBS.items():
        for step in content["steps"]:
            yield f"{name}: {job}", step
    for file in GITHUB.glob("actions/*/action.yml"):
        for step in yaml.safe_load(file.read_text())["runs"]["steps"]:
            yield file.parent.name, step


def using(action: str) -> list[tuple[str, dict[str, Any]]]:
    matching = [(where, step) for where, step in steps() if step.get("uses", "").startswith(action)]
    assert matching
    return matching


def job(name: str, of: str) -> dict[str, Any]:
    content: dict[str, Any] = JOBS[name, of]
    return content


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(GITHUB)))
def test_every_action_is_pinned_by_commit_with_its_version(file: Path) -> None:
    for line in file.read_text().splitlines():
        if "uses:" in line and "uses: $/" not in line:
            pinned = _PINNED.search(line)
            assert pinned, line
            assert pinned["action"].split("/")[0] in OWNERS


def test_an_action_has_one_version_everywhere() -> None:
    pins: dict[str, set[tuple[str, str]]] = {}
    for file in FILES:
        for pinned in _PINNED.finditer(file.read_text()):
            pins.setdefault(pinned["action"], set()).add((pinned["commit"], pinned["version"]))

    assert {action: len(versions) for action, versions in pins.items()} == dict.fromkeys(pins, 1)


def test_dependabot_renews_the_pins_of_every_action() -> None:
    update, pip = yaml.safe_load((GITHUB / "dependabot.yml").read_text())["updates"]
    ours = {f"/{file.parent.relative_to(ROOT)}" for file in GITHUB.glob("actions/*/action.yml")}

    assert update["package-ecosystem"] == "github-actions"
    assert set(update["directories"]) == {"/"} | ours
    assert (pip["package-ecosystem"], pip["directory"]) == ("pip", "/")
    assert update["cooldown"] == pip["cooldown"]


def test_each_job_has_only_the_permissions_that_it_needs() -> None:
    assert all(content["permissions"] == {} for content in WORKFLOWS.values())
    assert {which: said.get("permissions") for which, said in JOBS.items()} == PERMISSIONS


def test_there_is_no_stored_secret() -> None:
    for file in FILES:
        assert "secrets" not in file.read_text(), file.name


def test_no_script_contains_text_of_an_event() -> None:
    for where, step in steps():
        assert "${{" not in step.get("run", ""), where


_PYTHON = r'python3?"?\s+'


def test_python_in_workflows_and_their_scripts_imports_what_is_there() -> None:
    """A step imported a package that had moved, which nobody saw until its workflow ran."""
    scripts = [file.read_text() for file in (ROOT / ".ci").iterdir()]
    scripts += [step["run"] for _, step in steps() if "run" in step]
    text = "\n".join(scripts)

    modules = re.findall(rf"{_PYTHON}-m ([\w.]+)", text)
    assert "aksgpu.ci.stacks" in modules
    assert [name for name in modules if name != "venv" and not find_spec(name)] == []
    programs = re.findall(rf"{_PYTHON}-c\s+(?:\\\s+)?'([^']+)'", text)
    assert len(programs) > 1
    for program in programs:
        tree = ast.parse(program)
        known = dict(vars(builtins))
        for each in tree.body:
            if isinstance(each, ast.Import | ast.ImportFrom):
                exec(ast.unparse(each), known)  # noqa: S102 (our own files)
        names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        assert names <= known.keys(), program


def test_each_workflow_has_only_its_expected_triggers() -> None:
    triggers = {name: set(content["on"]) for name, content in WORKFLOWS.items()}

    assert triggers == {
        "pull-request": {"pull_request"},
        "deploy": {"push", "workflow_dispatch"},
        "warm-caches": {"push", "workflow_dispatch"},
        "gpu-operator": {"pull_request", "schedule", "workflow_dispatch"},
        "release": {"push"},
        "drift": {"schedule", "workflow_dispatch"},
        "nightly": {"schedule", "workflow_dispatch"},
        "renew-tables": {"schedule", "workflow_dispatch"},
    }
    assert WORKFLOWS["release"]["on"]["push"] == {"tags": ["v*"]}
    for name in ("deploy", "warm-caches"):
        assert WORKFLOWS[name]["on"]["push"] == {"branches": ["main"]}


def test_no_checkout_persists_its_token() -> None:
    for where, step in using("actions/checkout@"):
        assert step["with"]["persist-credentials"] == "false", where


def test_azure_credentials_are_protected_by_an_environment() -> None:
    assert {
        which: content["environment"] for which, content in JOBS.items() if "environment" in content
    } == ENVIRONMENTS
    with_token = {which for which, rights in PERMISSIONS.items() if "id-token" in rights}
    # A release is attested with such a token, which Azure does not let in.
    assert with_token == {*ENVIRONMENTS, ("release", "publish")}


@pytest.mark.parametrize("which", ENVIRONMENTS, ids=": ".join)
def test_every_job_in_azure_signs_in_in_one_way_with_pinned_tools(which: tuple[str, str]) -> None:
    """The runner's own pulumi deployed, and nothing signed in to a cluster with Entra."""
    content = JOBS[which]
    *_, sign_in = [step["run"] for step in content["steps"] if "run" in step]
    assert sign_in.startswith("PYTHONPATH=tools python3 -m aksgpu.ci.azure .ci/")
    assert ".ci/deployment-tools" in [step.get("run") for step in content["steps"]]
    assert {name: f"${{{{ vars.{name} }}}}" for name in VARIABLES}.items() <= content["env"].items()
    # Code that nobody has reviewed runs on no machine of the company's network.
    runner = "${{ vars.RUNNER || 'ubuntu-24.04' }}"
    assert content["runs-on"] == ("ubuntu-24.04" if which[0] == "pull-request" else runner)


def test_no_fork_gets_credentials() -> None:
    terms = [term.strip() for term in job("pull-request", "preflight")["if"].split("&&")]

    assert "github.event.pull_request.head.repo.full_name == github.repository" in terms
    assert "github.event.pull_request.user.login != 'dependabot[bot]'" in terms
    assert not any("||" in term for term in terms)


@pytest.mark.parametrize("which", TRUSTED, ids=": ".join)
def test_privileged_jobs_use_no_cache(which: tuple[str, str]) -> None:
    for step in JOBS[which]["steps"]:
        assert not step.get("uses", "").startswith(("actions/cache", "./", "$/")), step
        assert "cache" not in step.get("with", {}), step


def test_each_target_has_a_cache_that_main_fills() -> None:
    """One key served all: the first job to end, which needs least, filled it for good."""
    warm = job("warm-caches", "warm")["strategy"]["matrix"]["target"]
    checks = job("pull-request", "checks")["strategy"]["matrix"]["target"]
    taken = {step["with"]["target"] for _, step in using("$/.github/actions/tools")}
    assert taken - {"${{ matrix.target }}"} | set(checks) == set(warm)
    assert len(warm) == len(set(warm))

    [(_, cache)] = using("actions/cache@")
    *parts, hashed = cache["with"]["key"].split("-${{ ")
    assert parts == ["aks-gpu", "inputs.target }}", "runner.os }}", "runner.arch }}"]
    assert cache["with"]["restore-keys"] == "-${{ ".join([*parts, ""]).removesuffix("${{ ")
    files = re.findall(r"'([^']+)'", hashed)
    assert files == [
        "tools/machine_setup/**",
        "tools/requirements-dev.txt",
        "tests/article/azure-cli.txt",
        "tests/components/package/go/**",
    ]
    assert all(list(ROOT.glob(file)) for file in files)


@pytest.mark.parametrize("target", job("warm-caches", "warm")["strategy"]["matrix"]["target"])
def test_the_cache_script_accepts_every_target(target: str, tmp_path: Path) -> None:
    """With stand-ins for make and Python, which note what they are called with."""
    place = tmp_path / ".ci" / "warm"
    for program in (tmp_path / "bin" / "make", tmp_path / ".venv" / "bin" / "python"):
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "$@" >> called\n')
        program.chmod(0o755)
    place.parent.mkdir()
    place.write_bytes((ROOT / ".ci" / "warm").read_bytes())
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"

    subprocess.run(["bash", place, target], env={"PATH": path}, check=True)  # noqa: S607

    called = (tmp_path / "called").read_text().splitlines()
    assert called[0] == ".venv/ready"
    assert len(called) > 1


def test_the_job_that_comments_runs_no_code_of_the_change(tmp_path: Path) -> None:
    """It has a token that can write, and a change could have put its own code into a checkout."""
    *downloads, comment = job("pull-request", "comment")["steps"]
    for step in downloads:
        assert step["uses"].startswith("actions/download-artifact@")
        assert step["with"]["path"] == "${{ runner.temp }}/report"
        assert step["continue-on-error"] == "true"
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\ncat > {tmp_path}/body\n')
    gh.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path)}
    environment |= {"PULL": "7", "COMMIT": "1a2b3c4"}
    script = ["bash", "-e", "-o", "pipefail", "-c", comment["run"]]

    subprocess.run(script, env=environment, cwd=tmp_path, check=True)
    assert not (tmp_path / "body").exists()
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "review.md").write_text("the report\n")
    subprocess.run(script, env=environment, cwd=tmp_path, check=True)

    called = (tmp_path / "arguments").read_text().strip()
    assert called == "pr comment 7 --edit-last --create-if-none --body-file -"
    assert (tmp_path / "body").read_text() == "the report\n\nThis is the review of 1a2b3c4.\n"


def test_a_report_is_a_comment_also_when_the_review_failed_but_not_of_a_fork() -> None:
    steps_of_review = job("pull-request", "review")["steps"]
    [upload] = [step for step in steps_of_review if "upload" in step.get("uses", "")]
    assert upload["if"] == "always()"
    assert upload["with"]["path"] == "build/report/"
    download, _ = job("pull-request", "comment")["steps"]
    assert download["with"]["name"] == upload["with"]["name"]
    terms = {term.strip() for term in job("pull-request", "comment")["if"].split("&&")}
    assert terms == {
        "!cancelled()",
        "github.event.pull_request.head.repo.full_name == github.repository",
    }
    assert job("pull-request", "comment")["needs"] == "review"


# What decides over a change: a pull request that changes it needs its owners.
DECIDES = (
    ".ci/", ".github/", "Pulumi.", "aks_catalogue/", "components/", "plugins/", "policies/",
    "stack_settings/", "tests/", "tools/", "requirements",
    "Makefile", "__main__.py", "pyproject.toml",
)  # fmt: skip


def test_every_file_that_decides_a_review_has_owners() -> None:
    """A pull request could change the days of retirement, or the review, without its owners."""
    listed = Program(("git",), ROOT).attempt("ls-files", "-z", seconds=READ_SECONDS).succeeded()
    files = [file for file in listed.split("\0") if file]
    rows = [line.split() for line in (GITHUB / "CODEOWNERS").read_text().splitlines()]
    patterns = [(row[0], row[1:]) for row in rows if row and row[0] != "#"]

    def is_of(file: str, pattern: str) -> bool:
        if pattern.endswith("/"):
            return file.startswith(pattern[1:])
        return fnmatch(file if "/" in pattern else Path(file).name, pattern.removeprefix("/"))

    def owners(file: str) -> list[str]:
        return next(who for pattern, who in reversed(patterns) if is_of(file, pattern))

    decides = [file for file in files if file.startswith(DECIDES)]
    assert len(decides) > 300
    assert [file for file in decides if not file.endswith(".md") and not owners(file)] == []


def test_stacks_are_updated_one_after_the_other_and_never_cancelled() -> None:
    up = job("deploy", "up")
    assert up["needs"] == ["stacks", "plan"]

    assert WORKFLOWS["deploy"]["concurrency"] == {
        "group": "deploy",
        "cancel-in-progress": "false",
    }
    assert up["strategy"]["max-parallel"] == "1"
    assert up["strategy"]["matrix"] == {"stack": "${{ fromJSON(needs.stacks.outputs.deployed) }}"}
    assert up["timeout-minutes"] == "360"
    assert "github.ref == 'refs/heads/main'" in job("deploy", "stacks")["if"]


def test_a_rerun_of_an_old_deployment_is_refused() -> None:
    first = job("deploy", "up")["steps"][0]

    assert first["if"] == "github.run_attempt > 1"
    assert "GITHUB_SHA" in first["run"]
    assert "exit 1" in first["run"]


# What runs every life, or waits for Azure, in minutes.
LONGEST = {("deploy", "up"): 360, ("nightly", "run"): 150, ("release", "checks"): 150}


def test_every_job_has_a_timeout() -> None:
    """The release had an hour for a gate that took longer."""
    for which, content in JOBS.items():
        assert int(content["timeout-minutes"]) <= LONGEST.get(which, 60), which


def test_a_pull_request_runs_the_gate_in_jobs_side_by_side() -> None:
    checks = job("pull-request", "checks")
    assert checks["strategy"]["matrix"]["target"] == ["lint", "article", "test"]
    assert [step["run"] for step in checks["steps"] if "run" in step] == ['make "$TARGET"']

    lives = job("pull-request", "lives")
    shares = lives["strategy"]["matrix"]["share"]
    assert shares == [f"{number}/{len(shares)}" for number in range(len(shares))]
    checkout, *_, run = lives["steps"]
    # The commit before a merge is where the change begins.
    assert checkout["with"]["fetch-depth"] == "2"
    assert run["run"].endswith('tests.gate --share "$SHARE" --base HEAD^1')


def test_each_night_runs_whatever_the_script_knows() -> None:
    script = (ROOT / ".ci" / "nightly").read_text()
    assert (
        re.findall(r"(?m)^    (\w+)\)$", script)
        == job("nightly", "run")["strategy"]["matrix"]["what"]
    )
    assert ".ci/whole" in [step.get("run") for step in job("release", "checks")["steps"]]


def test_a_bad_night_is_a_line_for_each_name(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "nightly").write_bytes((ROOT / ".ci" / "nightly").read_bytes())
    whole = tmp_path / ".ci" / "whole"
    whole.write_text("#!/bin/sh\necho flaky: a\necho failed: b\necho else\nexit 1\n")
    whole.chmod(0o755)
    make = tmp_path / "make"
    make.write_text("#!/bin/sh\n[ $1 = test ] || exit 3\necho FAILED c\n")
    make.chmod(0o755)

    def night(what: str) -> tuple[int, list[str]]:
        path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        ended = subprocess.run(
            ["bash", ".ci/nightly", what],  # noqa: S607
            cwd=tmp_path,
            env=path,
            capture_output=True,
            check=False,
        )
        names = (tmp_path / "build" / "nightly" / f"{what}.txt").read_text().splitlines()
        return ended.returncode, [name.strip() for name in names]

    assert night("whole") == (1, ["1 failed: b", "1 flaky: a"])
    assert night("five") == (0, ["5 FAILED c"])
    assert night("mutants") == (3, ["It has ended with 3."])


def test_the_page_lists_every_variable_of_the_workflows() -> None:
    used = {name for file in FILES for name in re.findall(r"vars\.(\w+)", file.read_text())}
    page = (ROOT / "docs" / "ci.md").read_text()
    (table,) = re.findall(r"\| variable \|.*?\n\n", page, re.DOTALL)

    assert set(re.findall(r"`([A-Z_]{5,})`", table)) == used


def test_the_page_lists_the_files_that_affect_no_stack() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    (row,) = [line for line in page.splitlines() if line.endswith("| none |")]

    listed = set(re.findall(r"`([^`]+)`", row)) | {"docs/", "tests/", ".gitignore"}
    assert listed == set(TOUCHES_NONE)


def test_the_page_lists_the_one_required_check() -> None:
    page = " ".join((ROOT / "docs" / "ci.md").read_text().split())
    passed = job("pull-request", "passed")
    assert f"Required check: *{passed['name']}*" in page
    assert passed["if"] == "always()"
    needed = {name for workflow, name in JOBS if workflow == "pull-request"}
    assert set(passed["needs"]) == needed - {"passed", "comment"}


@pytest.mark.parametrize(
    ("results", "code"),
    [("success skipped success", 0), ("success failure", 1), ("cancelled", 1), ("skipped", 0)],
)
def test_a_skipped_check_counts_as_passed_and_a_cancelled_one_does_not(
    results: str, code: int
) -> None:
    """Skipped, a job with a matrix has no name that branch protection could wait for."""
    [step] = job("pull-request", "passed")["steps"]
    script = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    assert subprocess.run(script, env={"RESULTS": results}, check=False).returncode == code


def test_the_suites_run_for_everything_but_stack_files() -> None:
    """A line of one stack file started thirteen jobs, one of an hour."""
    for name in ("checks", "lives", "contract", "packages"):
        assert job("pull-request", name)["if"] == "needs.stacks.outputs.suites == 'true'"
    assert "suites" in job("pull-request", "stacks")["outputs"]


# What a list on the internet has made of a table, and of a workflow.
_RENEWED = """\
diff --git a/.github/more.yml b/.github/more.yml
new file mode 100644
--- /dev/null
+++ b/.github/more.yml
@@ -0,0 +1 @@
+on: push
diff --git a/aks_catalogue/sizes.csv b/aks_catalogue/sizes.csv
--- a/aks_catalogue/sizes.csv
+++ b/aks_catalogue/sizes.csv
@@ -1 +1,2 @@
 name
+Standard_D2s_v9
"""
_PUSH = "git push --quiet --force https://x-access-token:t@github.com/o/r HEAD:refs/heads/"


@pytest.mark.parametrize(
    ("patch", "is_open", "called"),
    [
        ("", "", []),
        (_RENEWED, "7", ["pr list"]),
        (
            _RENEWED,
            "",
            ["pr list", f"{_PUSH}renew-tables", "pr create", "sizes.csv: 1 sizes are new"],
        ),
    ],
    ids=["nothing new", "one is open", "new"],
)
def test_renewed_tables_are_proposed_once_and_nothing_else_is(
    tmp_path: Path, patch: str, is_open: str, called: list[str]
) -> None:
    """With a `gh` and a `git push` that note what they are called with."""
    for name, content in {
        "aks_catalogue/sizes.csv": "name\n",
        ".ci/propose-tables": (ROOT / ".ci" / "propose-tables").read_text(),
        "new/tables.patch": patch,
        "new/said.txt": "sizes.csv: 1 sizes are new\n",
        "bin/gh": "#!/bin/sh\necho $1 $2 >> called\n[ $2 = list ] && echo $OPEN || cat >> called\n",
        "bin/git": '#!/bin/sh\n[ $1 = push ] && echo "git $@" >> called || exec $GIT "$@"\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    git = shutil.which("git")
    assert git
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "--quiet"], ["add", "aks_catalogue"], ["commit", "--quiet", "-mfirst"]):
        subprocess.run([git, *author, *words], cwd=tmp_path, check=True)
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "GIT": git, "OPEN": is_open}
    environment |= {"GH_TOKEN": "t", "GH_REPO": "o/r"}

    script = ["bash", ".ci/propose-tables", "new"]
    subprocess.run(script, cwd=tmp_path, env=environment, check=True)

    lines = (tmp_path / "called").read_text().splitlines() if called else []
    assert lines[: len(called)] == called
    # The rest is the text of the pull request, of which there is none without one.
    assert "pr create" in called or lines == called
    show = [git, "show", "--format=", "--name-only", "HEAD"]
    shown = subprocess.run(show, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert shown == "aks_catalogue/sizes.csv\n"
