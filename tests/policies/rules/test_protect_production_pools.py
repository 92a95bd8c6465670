import pytest

from policies.rules.protect_production_pools import protect_production_pools
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import (
    CPU,
    INLINE_FORMS,
    OWN_FORMS,
    VALID,
    Form,
    changed,
    every_form,
)

FOUND = (
    "This pool has GPUs, is production's, and is not protected: one deletion gives back GPUs that "
    "may not be had again. Give the resource the option protect."
)


@every_form(OWN_FORMS)
@pytest.mark.parametrize(
    ("stack", "protect", "found"),
    [("prod", False, [FOUND]), ("prod", True, []), ("dev", False, [])],
)
def test_in_every_form(form: Form, stack: str, protect: bool, found: list[str]) -> None:
    pool = form.resource(VALID, stack=stack, protect=protect)
    assert findings(protect_production_pools, pool) == found


def test_which_stacks_are_production_is_a_setting() -> None:
    pool = OWN_FORMS[0].resource(VALID, stack="live")
    config = {"productionStacks": ["live"]}
    assert findings(protect_production_pools, pool, config=config) == [FOUND]


def test_pools_without_gpus_are_left_to_others() -> None:
    for form in (*OWN_FORMS, *INLINE_FORMS):
        of_cpus = form.resource(changed({"vmSize": CPU}), stack="prod")
        assert findings(protect_production_pools, of_cpus) == []


@every_form(INLINE_FORMS)
def test_the_cluster_protects_its_inline_pools(form: Form) -> None:
    """They were passed, whatever the cluster's protection was."""
    (found,) = findings(protect_production_pools, form.resource(VALID, stack="prod"))
    assert found.startswith(f"{form.label} has GPUs, is production's, and is not protected")
    assert found.endswith("Give the cluster the option protect.")
    protected = form.resource(VALID, stack="prod", protect=True)
    assert findings(protect_production_pools, protected) == []
