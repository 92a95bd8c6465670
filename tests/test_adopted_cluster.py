"""A cluster that the Azure CLI has made becomes a stack's own, as docs/adopt.md says."""

import json
import re
from typing import Any

import pytest

from machine_setup import ensure_kubernetes
from tests.article.azure_cli import ensure_azure_cli
from tests.article.by_hand import sign_in
from tests.bench import ROOT, Bench
from tests.names import unique
from tests.test_stacks_on_engine import POOL, stack, up

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PAGE = (ROOT / "docs" / "adopt.md").read_text()


def test_a_cluster_created_by_the_azure_cli_is_imported_without_replacement(
    whole_bench: Bench,
) -> None:
    """The DNS prefix was the cluster's name, always: an import planned to delete the cluster."""
    # No DNS prefix: the CLI makes one of it.
    name = unique("made_by_hand")
    way = sign_in(whole_bench.cloud, ensure_azure_cli(print), ensure_kubernetes().folder, print)
    ask = way.runner.read
    ask("az", "group", "create", "--name", name, "--location", "eastus")
    # The network is today's default of AKS.
    ask(
        *f"az aks create --resource-group {name} --name {name} --node-count 1 --no-ssh-key".split(),
        *["--node-vm-size", "Standard_D4ds_v5"],
        *["--network-plugin", "azure", "--network-plugin-mode", "overlay"],
    )
    show = ["az", "aks", "show", "--resource-group", name, "--name", name]
    made = json.loads(ask(*show))
    (pool,) = made["agentPoolProfiles"]

    def own(*pools: dict[str, Any], **more: Any) -> dict[str, Any]:
        cluster = {"name": name, "dnsPrefix": made["dnsPrefix"]}
        system = {key: pool[key] for key in ("name", "vmSize", "count")}
        return stack(name, *pools, cluster=cluster, systemPool=system, **more)

    whole_bench.write_stack(own())
    (written,) = re.findall(r"^    \{\n.*?^    \}$", PAGE, re.MULTILINE | re.DOTALL)
    subscription = made["id"].split("/")[2]
    filled = written.replace("ID/", f"{subscription}/").replace("GROUP", name)
    file = whole_bench.folder / "import.json"
    file.write_text(filled.replace("CLUSTER", name))
    whole_bench.pulumi("import", "--file", str(file), "--yes", "--generate-code=false")

    assert up(whole_bench, own()) == {"cluster": "update"}
    tagged = own(POOL, tags={"team": "a"})
    assert up(whole_bench, tagged) == {"group": "update", "cluster": "update", "gpu": "create"}
    now = json.loads(ask(*show))
    assert now["tags"] == {"team": "a"}
    assert now["resourceUid"] == made["resourceUid"]
    assert not whole_bench.requests("DELETE")
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
