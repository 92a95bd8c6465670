"""Which stacks a change touches, told from real commits."""

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aksgpu.ci import stacks
from tests.bench import ROOT

STACKS = ("dev", "prod")
PROGRAM = [
    "__main__.py",
    "workloads.py",
    "Pulumi.yaml",
    "requirements.txt",
    "stack_settings/model.py",
    "components/gpu_node_pool.py",
    "aks_catalogue/gpu_sizes.csv",
    "plugins/aks_preview/provider.py",
    "policies/gpu_pool_linux_only.py",
    "something/new.py",
    "new.py",
    "engineering.py",
]
NO_PART_OF_IT = [
    "docs/ci.md",
    "README.md",
    "components/NOTES.md",
    "tests/test_program.py",
    "tools/rehearsal/cloud.py",
    "tools/aksgpu/main.py",
    "tools/machine_setup/ensure.py",
    "examples/batch-team/__main__.py",
    "tools/benchmarks/preview.py",
    ".github/workflows/deploy.yml",
    "Makefile",
    "tools/requirements-dev.txt",
]


class Repository:
    """A repository of the test's own, with two stacks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet")
        self.git("config", "user.name", "t")
        self.git("config", "user.email", "t@localhost")
        self.write(*(f"Pulumi.{stack}.yaml" for stack in STACKS), *PROGRAM, *NO_PART_OF_IT)
        self.commit()

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)  # noqa: S607

    def write(self, *paths: str) -> None:
        for path in paths:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a") as content:
                content.write(f"{path}\n")

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "t")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEPLOYED_STACKS", raising=False)
    return Repository(tmp_path)


def suites(capsys: pytest.CaptureFixture[str], since: str = "HEAD^1") -> bool:
    capsys.readouterr()
    assert stacks.main(["--changed-since", since]) == 0
    return "suites=true" in capsys.readouterr().out.splitlines()


def listed(capsys: pytest.CaptureFixture[str], since: str = "HEAD^1") -> dict[str, list[str]]:
    """The outputs, as a workflow's step has them."""
    capsys.readouterr()
    assert stacks.main(["--changed-since", since]) == 0
    lines = capsys.readouterr().out.splitlines()
    outputs = {name: json.loads(value) for name, value in (line.split("=", 1) for line in lines)}
    del outputs["suites"]
    return outputs


@pytest.mark.parametrize(
    ("paths", "runs"),
    [
        (["Pulumi.dev.yaml"], False),
        (["Pulumi.dev.yaml", "Pulumi.prod.policies.json"], False),
        (["Pulumi.dev.yaml", "docs/ci.md"], True),
        (["Pulumi.yaml"], True),
        (["docs/Pulumi.dev.yaml"], True),
        (["__main__.py"], True),
    ],
)
def test_stack_files_alone_run_no_suites(
    repository: Repository, capsys: pytest.CaptureFixture[str], paths: list[str], runs: bool
) -> None:
    """A line of one stack file waited for an hour of tests, none of which reads it."""
    repository.write(*paths)
    repository.commit()
    assert suites(capsys) == runs
    assert suites(capsys, since="0" * 40)


@pytest.mark.parametrize("path", PROGRAM)
def test_a_change_of_the_program_affects_every_stack(
    repository: Repository, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    repository.write(path)
    repository.commit()

    assert listed(capsys)["touched"] == ["dev", "prod"]


def modules(file: Path) -> Iterator[Path]:
    """The files of this project that a file imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            # What is imported may itself be a module.
            names = [str(node.module), *(f"{node.module}.{each.name}" for each in node.names)]
        for name in names:
            for room in (ROOT, ROOT / "plugins", ROOT / "tools"):
                place = room.joinpath(*name.split("."))
                candidates = (place.with_suffix(".py"), place / "__init__.py")
                yield from (module for module in candidates if module.exists())


def test_nothing_that_the_program_imports_is_left_out() -> None:
    """The program came to import a room whose changes still got no review and no deployment."""
    found: set[Path] = set()
    new = {ROOT / folder / "__main__.py" for folder in (".", "plugins/aks_preview", "policies")}
    # The pack finds its rules by itself.
    new |= {*ROOT.glob("policies/rules/*.py")}
    while new:
        found |= new
        new = {module for file in new for module in modules(file)} - found

    paths = {str(file.relative_to(ROOT)) for file in found}
    assert {
        "stack_settings/model.py",
        "plugins/provider_kit/serving.py",
        "policies/rule.py",
    } <= paths
    assert [path for path in sorted(paths) if not stacks.touched([path], STACKS)] == []


def test_a_change_outside_the_program_affects_no_stack(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(*NO_PART_OF_IT)
    repository.commit()

    assert listed(capsys) == {"touched": [], "deployed": []}


@pytest.mark.parametrize("path", ["Pulumi.prod.yaml", "Pulumi.prod.policies.json"])
def test_a_change_of_a_stack_file_affects_its_stack(
    repository: Repository, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    repository.write(path, "README.md")
    repository.commit()

    assert listed(capsys)["touched"] == ["prod"]


def test_a_renamed_stack_is_affected_under_its_new_name(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("mv", "Pulumi.dev.yaml", "Pulumi.staging.1.yaml")
    repository.commit()

    assert listed(capsys)["touched"] == ["staging.1"]


def test_a_module_that_leaves_the_program_affects_every_stack(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("mv", "workloads.py", "docs/workloads.py")
    repository.commit()

    assert listed(capsys)["touched"] == ["dev", "prod"]


@pytest.mark.parametrize("since", ["", "0" * 40, "no-such-branch", "--output=x"])
def test_an_unknown_base_commit_affects_every_stack(
    repository: Repository, capsys: pytest.CaptureFixture[str], since: str
) -> None:
    if since.startswith("-"):
        assert stacks.main([f"--changed-since={since}"]) == 0
        assert "touched=" + json.dumps(list(STACKS)) in capsys.readouterr().out
        assert not (repository.folder / "x^{commit}").exists()
    else:
        assert listed(capsys, since)["touched"] == ["dev", "prod"]


def test_a_path_that_git_quotes_is_read(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write('docs/ü "quoted"\n.txt')
    repository.commit()

    assert listed(capsys)["touched"] == []


def test_deployed_stacks_are_listed_in_their_order(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("Pulumi.article.yaml", "__main__.py")
    repository.commit()
    monkeypatch.setenv("DEPLOYED_STACKS", "prod dev")

    assert listed(capsys) == {"touched": ["article", "dev", "prod"], "deployed": ["prod", "dev"]}


def test_an_unaffected_deployed_stack_is_not_listed(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("Pulumi.dev.yaml")
    repository.commit()
    monkeypatch.setenv("DEPLOYED_STACKS", "prod dev")

    assert listed(capsys)["deployed"] == ["dev"]


def test_a_deployed_stack_without_a_file_is_refused(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOYED_STACKS", "dev gone")

    assert stacks.main(["--changed-since", ""]) == 2

    written = capsys.readouterr()
    assert written.out == ""
    assert "DEPLOYED_STACKS names gone" in written.err
    assert "destroy it first" in written.err


@pytest.mark.parametrize("name", ["--offline", "a b", "$(id)", "a\nb", '"'])
def test_a_file_name_that_is_no_stack_name_is_refused(
    repository: Repository, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    repository.write(f"Pulumi.{name}.yaml")

    assert stacks.main(["--changed-since", "HEAD"]) == 2

    assert "Invalid stack names" in capsys.readouterr().err


def test_a_link_in_place_of_a_stack_file_is_refused(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its stack was neither reviewed nor deployed when its contents changed."""
    (repository.folder / "Pulumi.link.yaml").symlink_to("Pulumi.dev.yaml")
    assert stacks.main(["--changed-since", ""]) == 2
    assert "Pulumi.link.yaml: write a file in place of the link." in capsys.readouterr().err
