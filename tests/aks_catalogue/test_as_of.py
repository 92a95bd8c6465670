"""Every table of facts says when it was true: a reader must be able to tell how old it is."""

import importlib
import pkgutil
from datetime import date
from pathlib import Path

import pytest

import aks_catalogue
from aks_catalogue.today import TODAY_VARIABLE, today

# Without facts about AKS: logic, and what has no day.
LOGIC = {
    "address": "where this project is",
    "clusters": "formats of names",
    "gpu_resources": "rules over the tables",
    "mistakes": "what a mistake is",
    "quantities": "Kubernetes' notation of numbers",
    "sample_pod": "a pod of this project",
    "scheduling": "what kube-scheduler does",
    "shapes": "how values of odd shapes are read",
    "today": "the day itself",
    "rotation": "names and labels of this project",
    "valid_capacity": "rules over the tables",
    "valid": "how rules are applied",
    "valid_clusters": "rules over the tables",
    "valid_pools": "rules over the tables",
}
FOLDER = Path(aks_catalogue.__file__).parent
MODULES = {module.name for module in pkgutil.iter_modules([str(FOLDER)])}


def test_every_module_with_facts_has_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests have a day of their own.
    monkeypatch.delenv(TODAY_VARIABLE)
    assert LOGIC.keys() <= MODULES
    for name in MODULES - LOGIC.keys():
        as_of = getattr(importlib.import_module(f"aks_catalogue.{name}"), "AS_OF", None)
        assert isinstance(as_of, date), f"aks_catalogue/{name}.py has no AS_OF"
        assert date(2026, 1, 1) <= as_of <= today(), name


def test_every_file_of_facts_is_read_by_a_module_with_a_date() -> None:
    sources = [(FOLDER / f"{name}.py").read_text() for name in MODULES - LOGIC.keys()]
    for table in FOLDER.glob("*.csv"):
        assert any(f'"{table.name}"' in source for source in sources), table.name
