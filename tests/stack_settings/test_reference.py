"""Pulumi.yaml declares every key of a stack file, with its default."""

import json
from pathlib import Path

import yaml

from stack_settings.model import Settings

PROJECT = Path(__file__).parent.parent.parent / "Pulumi.yaml"


def test_the_project_file_declares_the_keys_and_their_defaults() -> None:
    declared = yaml.safe_load(PROJECT.read_text())["config"]
    defaults = {
        f"aks-gpu:{field.alias}": json.loads(Settings().model_dump_json(by_alias=True))[
            str(field.alias)
        ]
        for field in Settings.model_fields.values()
    }

    assert declared.keys() == defaults.keys()
    for key, declaration in declared.items():
        # Of a part, Pulumi has no default: what is in it has some.
        assert declaration["default"] in (defaults[key], {}), key
