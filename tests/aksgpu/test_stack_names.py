"""Every name that Pulumi takes for a stack, to its files and back."""

import json
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aksgpu.allowances import Allowance, of_label
from aksgpu.ci import stacks
from aksgpu.project import Project
from aksgpu.stack_names import policies_file, short_name, stack_file, stack_of, stacks_in
from stack_settings import stack_file as stack_files

NAMES = st.from_regex(r"[a-zA-Z0-9_.-]{1,100}", fullmatch=True)


@settings(max_examples=200, deadline=None)
@given(name=NAMES, organization=st.sampled_from(["", "our-org/a.project/"]))
@example("prod.eu", "")
@example("policies", "")
@example("a.policies", "")
@example("yaml", "")
@example("a..", "")
@example(".policies.json.yaml", "")
def test_a_stack_name_and_its_file_names_match(name: str, organization: str) -> None:
    """In a rehearsal with Pulumi.prod.eu.yaml each command wrote the file of a stack prod."""
    stack, folder = organization + name, Path("a folder")

    assert short_name(stack) == name
    for file in (stack_file(folder, stack), policies_file(folder, stack)):
        assert file.parent == folder
        assert stack_of(file.name) == name
    touched = stacks.touched(
        [f"Pulumi.{name}.yaml", f"Pulumi.{name}.policies.json"], [name, f"{name}-b"]
    )
    assert touched == [name]
    allowance = Allowance("replace", name, "pool")
    assert Allowance.read(str(allowance)) == allowance
    assert of_label(f"{allowance}@1a2b3c4", "1a2b3c4") == allowance


@settings(max_examples=20, deadline=None)
@example(names={"NO", "0E0"})
@given(names=st.sets(NAMES, min_size=1, max_size=4))
def test_the_rehearsal_copies_exactly_the_stack_files_of_the_program(names: set[str]) -> None:
    with tempfile.TemporaryDirectory(suffix=" ü #1") as place:
        program, home = Path(place, "program"), Path(place, "home")
        program.mkdir()
        (program / "Pulumi.yaml").write_text("name: aks-gpu\nruntime: python\n")
        for name in names:
            text = json.dumps({"config": {"aks-gpu:tags": {"stack": name}}})
            stack_file(program, name).write_text(text)
        project = Project(program, home)
        project.write()
        for name in names:
            project.write_stack(name)

        project.write()

        assert stacks_in(project.folder) == stacks_in(program) == sorted(names)
        for name in names:
            written = stack_files.read(stack_file(project.folder, name))
            assert written.config["aks-gpu:tags"] == {"stack": name}
