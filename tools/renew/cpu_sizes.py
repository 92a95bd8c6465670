"""The VM sizes without GPUs, from the list that Kubernetes' autoscaler has of Azure's.

Microsoft makes that list from Azure's own: names, quota families, vCPUs and whole GiB of memory of
the sizes that any region has. Generations and disks, which it does not have, stay as they are; so
do sizes that it does not have yet.
"""

import csv
import io
import re
from pathlib import Path

from aks_catalogue import sizes

ADDRESS = (
    "https://raw.githubusercontent.com/kubernetes/autoscaler/master/cluster-autoscaler/"
    "cloudprovider/azure/azure_instance_types.go"
)
TABLE = Path(sizes.__file__).with_name("cpu_sizes.csv")
_ENTRY = re.compile(
    r'InstanceType:\s+"(?P<name>Standard_[^"]+)",\s+SkuFamily:\s+"(?P<family>[^"]+)",\s+'
    r"VCPU:\s+(?P<vcpus>\d+),\s+MemoryMb:\s+(?P<memory>\d+),"
)


def renew(listed: str) -> str:
    """Writes the table with what the list says; returns what has changed, in a line."""
    before = TABLE.read_text()
    rows = list(csv.DictReader(io.StringIO(before)))
    known = {row["name"]: row for row in rows}
    entries = list(_ENTRY.finditer(listed))
    if not entries:
        raise ValueError(f"There are no sizes in this list. It should be {ADDRESS}")
    added = 0
    for entry in entries:
        name = entry["name"]
        if sizes.is_gpu_size(name):
            continue
        if name not in known:
            known[name] = dict.fromkeys(rows[0], "") | {"name": name}
            rows.append(known[name])
            added += 1
        row, gib = known[name], int(entry["memory"]) // 1024
        row |= {"vcpus": entry["vcpus"], "quota_family": entry["family"]}
        # The list has whole GiB: of 3.5 it says 3, and 0 of a half.
        if int(float(row["memory_gib"] or 0)) != gib:
            row["memory_gib"] = str(gib)
    table = io.StringIO()
    writer = csv.DictWriter(table, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    TABLE.write_text(table.getvalue())
    changed = len(set(table.getvalue().splitlines()) - set(before.splitlines())) - added
    return f"{TABLE.name}: {added} sizes are new, {changed} have changed.\n"
