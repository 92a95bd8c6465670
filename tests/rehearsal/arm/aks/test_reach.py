"""Each refusal and each default of the rehearsal is about a property that somebody sends it."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rehearsal.arm.aks import filling
from rehearsal.arm.aks.refusals import Rule
from tests.rehearsal.arm.aks.test_refusals import CLUSTERS_REFUSED, POOLS_REFUSED, RULES

ROOT = Path(__file__).parents[4]
# Whose requests reach the server: stacks, components, the commands, the article, the proof.
SENDERS = (
    "__main__.py",
    "components",
    "plugins/aks_preview",
    "stack_settings",
    "tests/article",
    "tools/azure_proof",
)
# What companies set beside that, in programs of their own.
COMPANIES = frozenset(
    """
    advancedNetworking autoScalerProfile autoUpgradeProfile enablePrivateClusterPublicFQDN identity
    ipFamilies kubeletDiskType loadBalancerProfile natGatewayProfile networkDataplane networkPolicy
    outboundType podCidrs privateDNSZone publicNetworkAccess serviceCidrs supportPlan
    userAssignedIdentities
    """.lower().split()
)
# Nothing sends these, but AKS's own words are on record.
RECORDED = frozenset(["cluster-gateway-api"])


@cache
def sent() -> frozenset[str]:
    """The names in the senders' sources, as `ossku` for `os_sku` and `osSKU`."""
    files = [file for name in SENDERS for file in sources(ROOT / name)]
    texts = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return frozenset(word.replace("_", "").lower() for word in re.findall(r"\w+", texts))


def sources(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return sorted(file for file in place.rglob("*.py") if not file.name.startswith("test_"))


def paths(value: Any, above: str = "") -> Iterator[str]:
    """The paths of the properties in a body. Labels and tags have names of their own."""
    for name, inner in value.items():
        path = f"{above}{name}"
        is_section = isinstance(inner, dict) and inner and name not in ("nodeLabels", "tags")
        yield from paths(inner, f"{path}.") if is_section else [path]


def is_sent(path: str) -> bool:
    """Whether somebody sends the property, or companies the section that it is in."""
    sections = {name for name in path.lower().split(".") if name not in ("*", "properties")}
    return sections <= sent() or not COMPANIES.isdisjoint(sections)


def is_reached(rule: Rule) -> bool:
    """Whether the properties in the requests that break the rule are sent by somebody."""
    rows = [*POOLS_REFUSED, *CLUSTERS_REFUSED]
    found = [path for row in rows if row[0] == rule.name for path in paths(row[1])]
    return all(is_sent(path.replace("[]", "")) for path in found)


# All enumerations of the API are one rule, for programs of others as well.
OF_ONE_PROPERTY = sorted(name for name, rule in RULES.items() if " is one of " not in rule.summary)


@pytest.mark.parametrize("name", OF_ONE_PROPERTY)
def test_somebody_sends_what_a_rule_refuses(name: str) -> None:
    """Half of the rules were about properties that nobody had a way to set."""
    assert is_reached(RULES[name]) is (name not in RECORDED)


@pytest.mark.parametrize("table", ["pool", "cluster"])
def test_somebody_sends_what_a_default_depends_on(table: str) -> None:
    """Its condition is a property that somebody sends."""
    conditions = {path for row in filling.rows(table) for path in row.when}
    own = [path for path in conditions if path.split(".")[0] not in ("size", "version", "first")]
    assert [path for path in own if not is_sent(path)] == []
