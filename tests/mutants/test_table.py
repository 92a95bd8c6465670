"""A mutant that no longer applies would be missed without a word."""

from tests.mutants.table import ROOT, mutants


def test_each_mutant_applies_and_names_tests() -> None:
    for mutant in mutants():
        assert compile(mutant.mutated(), mutant.file, "exec")
        for test in mutant.tests.split():
            file, *names = test.split("::")
            text = (ROOT / file).read_text(encoding="utf-8") if file.endswith(".py") else ""
            assert (ROOT / file).exists(), mutant
            assert all(f"def {name}(" in text for name in names), mutant


def test_each_fault_has_a_unique_name() -> None:
    faults = [mutant.fault for mutant in mutants()]
    assert len({*faults}) == len(faults)
