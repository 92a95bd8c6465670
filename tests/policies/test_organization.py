"""What an organization sets once holds for each stack, and what a stack softens is told."""

import copy
import json
import shutil
from pathlib import Path

import pytest
import yaml
from pulumi_policy import EnforcementLevel

from policies import organization
from policies.rules import RULES
from tests.bench import ROOT, Bench
from tests.names import unique

SET_ONCE = {
    "allowed-gpu-sizes": {"enforcementLevel": "mandatory", "sizes": ["Standard_NC24ads_A100_v4"]},
    "gpu-pool-autoscaling": "mandatory",
}


def test_levels_and_settings_take_the_place_of_the_packs_own() -> None:
    rules = {rule.name: rule for rule in copy.deepcopy(RULES)}
    organization.inherit(rules.values(), json.dumps(SET_ONCE))
    sizes = rules["allowed-gpu-sizes"]
    assert sizes.config_schema is not None
    assert sizes.enforcement_level is EnforcementLevel.MANDATORY
    assert sizes.config_schema.properties["sizes"]["default"] == ["Standard_NC24ads_A100_v4"]
    assert rules["gpu-pool-autoscaling"].enforcement_level is EnforcementLevel.MANDATORY


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"no-such-rule": "mandatory"}, "the pack has no rule no-such-rule"),
        ({"allowed-gpu-sizes": {"size": ["a"]}}, "allowed-gpu-sizes has no setting size"),
        ({"gpu-count-cap": "strict"}, "gpu-count-cap: strict is no level"),
        (["gpu-count-cap"], "it is not an object with rules as keys"),
        ("{", "it is not valid JSON"),
    ],
)
def test_what_is_wrong_is_refused(wrong: object, words: str) -> None:
    text = wrong if isinstance(wrong, str) else json.dumps(wrong)
    with pytest.raises(ValueError, match=words):
        organization.inherit(copy.deepcopy(RULES), text)


@pytest.mark.engine
@pytest.mark.nightly
def test_each_stack_inherits_it_and_the_preview_tells_what_a_stack_softens(
    bench: Bench, tmp_path: Path
) -> None:
    """Each stack had to repeat it, and a stack without a file silently had none."""
    pack = tmp_path / "pack"
    for part in ("policies", "aks_pools", "aks_catalogue", "docs"):
        shutil.copytree(ROOT / part, pack / part, ignore=shutil.ignore_patterns("__pycache__"))
    project = pack / "policies" / "PulumiPolicy.yaml"
    content = yaml.safe_load(project.read_text())
    content["runtime"]["options"]["virtualenv"] = str(ROOT / ".venv")
    project.write_text(yaml.safe_dump(content))
    (pack / "policies" / "organization.json").write_text(json.dumps(SET_ONCE))
    name = unique("organization")
    pool = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "count": 0}
    bench.write_stack({"resourceGroup": {"name": name}, "gpuPools": [pool]})
    preview = ["preview", "--policy-pack", str(pack / "policies")]

    refused = bench.pulumi(*preview, fails=True)
    assert "Use Standard_NC24ads_A100_v4" in refused
    assert "gpu-pool-autoscaling" in refused

    own = bench.folder / "own.json"
    own.write_text(
        json.dumps({"gpu-pool-autoscaling": "advisory", "allowed-gpu-sizes": "disabled"})
    )
    softened = bench.pulumi(*preview, "--policy-pack-config", str(own))
    assert "gpu-pool-autoscaling is advisory, not mandatory" in softened
    assert "allowed-gpu-sizes is disabled, not mandatory" in softened
