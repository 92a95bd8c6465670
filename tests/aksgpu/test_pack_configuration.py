"""A configuration of the pack, checked without an engine."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aks_catalogue.today import TODAY_VARIABLE
from aksgpu.main import app
from aksgpu.pack_configuration import expired_in, mistakes_in
from tests.bench import ROOT

EXCEPTION = {"resource": "a", "reason": "b", "until": "2026-12-31"}


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2026-11-30")


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, []),
        ({"all": "disabled"}, []),
        (
            {"gpu-pool-tainted": "mandatory", "host-encryption": {"enforcementLevel": "disabled"}},
            [],
        ),
        ({"gpu-pool-tainted": {"exceptions": [EXCEPTION], "reason": "a"}}, []),
        (
            {"gpu-pool-taintet": "mandatory"},
            ["gpu-pool-taintet: the pack has no such rule: did you mean gpu-pool-tainted?"],
        ),
        (
            {"gpu-pool-tainted": "mandatry"},
            ['gpu-pool-tainted: "mandatry" is not a level: did you mean mandatory?'],
        ),
        (
            {"gpu-pool-minimum-size": {"flor": "Standard_NC6"}},
            ["gpu-pool-minimum-size.flor: the rule has no such setting: did you mean floor?"],
        ),
        (
            {"gpu-count-cap": {"gpus": -1}},
            ["gpu-count-cap.gpus: -1 is less than the minimum of 0."],
        ),
        ({"gpu-count-cap": {"gpus": True}}, ["gpu-count-cap.gpus: true is not of type integer."]),
        (
            {"gpu-pool-tainted": {"exceptions": [{**EXCEPTION, "until": "2026-11-29"}]}},
            [
                "gpu-pool-tainted.exceptions: the exception of a expired on 2026-11-29: remove it, "
                "or set a later date."
            ],
        ),
        (
            {"gpu-pool-tainted": {"exceptions": [{"resource": "a", "reason": "b"}]}},
            ["gpu-pool-tainted.exceptions[0]: 'until' is a required property."],
        ),
        (
            {
                "gpu-pool-minimum-size": {"floor": "Standard_NC8as_T4"},
                "gpu-pool-tainted": {"exceptions": [{**EXCEPTION, "until": "2026-13-01", "to": 1}]},
            },
            [
                'gpu-pool-minimum-size.floor: "Standard_NC8as_T4" is not supported: did you mean '
                "Standard_NC8as_T4_v3?",
                "gpu-pool-tainted.exceptions[0]: Additional properties are not allowed ('to' was "
                "unexpected). Use resource, reason, until.",
                'gpu-pool-tainted.exceptions[0].until: "2026-13-01" is not valid. Expected: The '
                "last day of the exception, such as 2026-12-31.",
            ],
        ),
        ({"gpu-count-cap": {"gpus": 1.0}}, []),
        ({"gpu-count-cap": {"gpus": 1.5}}, ["gpu-count-cap.gpus: 1.5 is not of type integer."]),
        ([], ["The configuration is not an object with rules as keys."]),
    ],
)
def test_reports_each_mistake(configuration: Any, expected: list[str]) -> None:
    """Nothing reported a misspelled rule, or a misspelled setting of a disabled rule."""
    text = json.dumps(configuration)
    assert (mistakes_in(text) or expired_in(text)) == expected


def test_reports_duplicate_keys_and_invalid_json() -> None:
    (mistake,) = mistakes_in('{"gpu-pool-tainted": "disabled", "gpu-pool-tainted": "advisory"}')
    assert mistake.startswith("gpu-pool-tainted occurs twice")
    assert mistakes_in("{")[0].startswith("The configuration is not valid JSON: ")


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, *('{"all":' * deep + "1" + "}" * deep for deep in (400, 3000))],
)
def test_reports_deep_nesting(text: str) -> None:
    """It ended the command with a traceback."""
    assert len(mistakes_in(text)) == 1


@pytest.mark.parametrize(
    "until", ["٢٠٢٦-12-31", "2026-12-31\n", "2026-12-3१", "\n2026-12-31"]
)  # fmt: skip
def test_dates_must_have_ascii_digits_and_no_line_break(until: str) -> None:
    """Dates are compared as text: such an exception would never expire, or a day early."""
    config = {"exceptions": [{**EXCEPTION, "until": until}]}
    (mistake,) = mistakes_in(json.dumps({"gpu-pool-tainted": config}))
    assert mistake.startswith("gpu-pool-tainted.exceptions[0].until: ")


def test_reports_an_invalid_date_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "tomorrow")
    (mistake,) = expired_in(json.dumps({"gpu-pool-tainted": {"exceptions": [EXCEPTION]}}))
    assert TODAY_VARIABLE in mistake
    assert expired_in("{}") == []


def test_the_command_checks_the_given_files_or_those_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, wrong = tmp_path / "Pulumi.a.policies.json", tmp_path / "Pulumi.b.policies.json"
    good.write_text("{}")
    wrong.write_text('{"gpu-pool-taintet": "advisory"}')
    monkeypatch.chdir(tmp_path)

    def run(*files: Path) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["policies", *map(str, files)])
        return result.exit_code, result.output

    fine = "Result: fine - no problem was found (exit code 0).\n"
    assert run(good) == (0, f"Configurations checked: 1, Pulumi.a.policies.json.\n{fine}")
    for code, output in (run(wrong), run()):
        assert code == 1
        assert "policies-invalid: Pulumi.b.policies.json: gpu-pool-taintet: the pack" in output

    # A stack did not exist, it said of a file.
    code, output = run(tmp_path / "none.json")
    assert code == 2
    assert "Result: file-missing - a file does not exist (exit code 2)." in output

    # An unreadable file hid the mistakes of the others.
    (tmp_path / "u16.json").write_bytes("{}".encode("utf-16"))
    checked = "Configurations checked: 2, Pulumi.b.policies.json, Pulumi.a.policies.json."
    for unreadable in (tmp_path / "none.json", tmp_path / "u16.json", tmp_path):
        code, output = run(unreadable, wrong, good)
        assert code == 1
        assert f"{unreadable.name}: it cannot be read: " in output
        assert "gpu-pool-taintet: the pack" in output
        assert checked in output
    assert "file-missing" not in run(tmp_path / "u16.json")[1]


def test_the_command_looks_in_the_folder_of_the_stack_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It succeeded without a word if the configurations were in another folder."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["policies"])
    assert result.output.startswith("Configurations checked: 1, organization.json.\n")
    folder = tmp_path / "stacks"
    folder.mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: a\nruntime: python\nstackConfigDir: stacks\n")
    (folder / "Pulumi.dev.policies.json").write_text('{"typo": "advisory"}')
    result = CliRunner().invoke(app, ["policies"])
    assert result.exit_code == 1
    assert (
        "Configurations checked: 2, organization.json, Pulumi.dev.policies.json." in result.output
    )


def test_the_configurations_of_this_project_have_no_mistakes() -> None:
    for file in ROOT.glob("Pulumi.*.policies.json"):
        assert mistakes_in(file.read_text()) == [], file
