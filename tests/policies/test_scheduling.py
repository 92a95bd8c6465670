"""How sure it is that pods land on a node of which some labels are not known."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aks_catalogue.scheduling import UNKNOWN, Unknown, selects
from policies.certainty import Certainty
from policies.scheduling import chosen
from tests.policies.gpu_stacks import asks, required

Json = dict[str, Any]

VALUES = ["a", "b", "5", "6"]
# Known: the node has it, or has it not. Unknown: two labels that others may set.
LABELS: Mapping[str, str | Unknown | None] = {"has": "a", "lacks": None, "x": UNKNOWN, "y": UNKNOWN}
KEYS = st.sampled_from([*LABELS])
EXPRESSIONS = st.one_of(
    st.builds(asks, KEYS, st.sampled_from(["In", "NotIn"]), st.sampled_from(VALUES)),
    st.builds(asks, KEYS, st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(
        asks, KEYS, st.sampled_from(["Gt", "Lt"]), st.sampled_from(["5", "6", "+-5", "9" * 5000])
    ),
)
SPECS = st.builds(
    lambda terms, selector: {"affinity": required(*terms), "nodeSelector": selector},
    st.lists(st.lists(EXPRESSIONS, min_size=1, max_size=3), min_size=1, max_size=3),
    st.dictionaries(KEYS, st.sampled_from(VALUES), max_size=1),
)
# What the unknown labels can be: also what nobody asks for.
NODES = [{**LABELS, "x": x, "y": y} for x, y in product([None, "c", "4", "7", *VALUES], repeat=2)]


@settings(max_examples=300)
@given(specs=st.lists(SPECS, min_size=1, max_size=2))
def test_on_every_node_on_some_or_on_none(specs: list[Json]) -> None:
    """Labels under nvidia.com were held to meet `In` and `NotIn` alike, and pools were refused."""
    on = {all(selects(spec, node.get) for spec in specs) for node in NODES}
    how = chosen(LABELS.get, *specs)
    if how is Certainty.CERTAIN:
        assert on == {True}
    else:
        # It may be called possible where it is certain, as of `x In a or x NotIn a`.
        assert (how is Certainty.NO) == (on == {False})


def test_more_labels_than_can_be_tried_out() -> None:
    many = required([asks(f"x{n}", "In", "a") for n in range(20)])
    none = required([asks(f"x{n}", "NotIn", "a") for n in range(20)])
    specs = {"affinity": many}, {"affinity": none}
    assert chosen(lambda _: UNKNOWN, *specs) is Certainty.POSSIBLE


def test_a_node_by_its_name_is_possible() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["n0"]}
    term = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}}
    assert chosen(LABELS.get, spec) is Certainty.POSSIBLE
