"""A configuration of the pack, checked without an engine."""

import json
from typing import Any

import pytest

from aksgpu.pack_configuration import mistakes_in
from tests.bench import ROOT

EXCEPTION = {"resource": "a", "reason": "b", "until": "2026-12-31"}


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
    assert mistakes_in(text) == expected


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


def test_the_configurations_of_this_project_have_no_mistakes() -> None:
    for file in ROOT.glob("Pulumi.*.policies.json"):
        assert mistakes_in(file.read_text()) == [], file
