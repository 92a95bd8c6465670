import pytest

from policies.rules.protect_production_pools import protect_production_pools
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import CLUSTER, CPU, OWN_FORMS, VALID, Form, changed, every_form

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


def test_what_is_no_gpu_pool_of_its_own_is_left_to_others() -> None:
    of_cpus = OWN_FORMS[0].resource(changed({"vmSize": CPU}), stack="prod")
    inline = CLUSTER.resource(VALID, stack="prod")
    assert findings(protect_production_pools, of_cpus, inline) == []
