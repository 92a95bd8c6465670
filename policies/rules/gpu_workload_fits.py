"""Each workload of the program that asks for GPUs can go to a GPU pool of its cluster.

A pod that does not tolerate the taints of its pools, or selects other nodes, stays pending, and an
update that waits for it fails half an hour later. The rule compares taints and labels alone: how
many GPUs, vCPUs and GiB a node has, the scheduler says. It is silent where it cannot be certain:
for a cluster of another stack, where Karpenter, AKS Automatic or KAITO make nodes, for jobs in
queues of Kueue, and for values that are not known yet. It does not see pools of other stacks.
"""

import re
from contextlib import suppress

from aks_catalogue.device_plugin import GPU, MIG_PREFIX, SHARED
from aks_catalogue.scheduling import Spec, Taint
from aks_catalogue.shapes import at, mapping
from aks_pools.pools import is_cluster
from policies.certainty import Certainty
from policies.gpu_stack import GpuStack
from policies.pods import containers_of, pods_of
from policies.reading import CannotReadError
from policies.rule import Settings
from policies.scheduling import is_selected, untolerated
from policies.stack_rule import Member, Members, StackFindings, StackPool, StackRule
from policies.unknowns import Unknowns

# Server-side apply patches, and workflows of Argo, whose pods get more from elsewhere.
_PARTIAL = re.compile(r"kubernetes:.*Patch|kubernetes:argoproj\.io/.*")
_KARPENTER = re.compile(r"kubernetes:karpenter\.sh/\w+:NodePool(Patch)?")
_KUEUE = "kueue.x-k8s.io/"


@StackRule(
    remedy="Let the pod tolerate the pool's taints and select its labels, or give the cluster a "
    "pool that fits.",
    tags=("gpu", "aks", "scheduling"),
)
def gpu_workload_fits(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    unread = Unknowns()
    stack = GpuStack(members, unread)
    pools = stack.gpu_pools(unread)

    def of_cluster(found: list[StackPool], member: Member) -> list[StackPool]:
        share = stack.clusters.have_both
        return [one for one in found if share(one, member) is Certainty.CERTAIN]

    def judge(member: Member) -> StackFindings:
        # Of pods that cannot be read, or are not whole, nothing is said.
        with suppress(CannotReadError):
            if _PARTIAL.fullmatch(member.type) or _is_queued(member):
                return
            for pods in pods_of(member.type, member.properties, Unknowns()):
                if not _asks_for_gpus(pods):
                    continue
                # A cluster of this stack has all its pools here.
                is_here = any(one.clusters() for one in of_cluster(stack.pools, member))
                misfits = [_misfit(one, pods) for one in of_cluster(pools, member)]
                if is_here and all(misfits):
                    why = "; ".join(misfits) or "this stack has none, so add one, or except the pod"
                    yield (
                        f"A pod asks for GPUs and can go to no GPU pool of its cluster: {why}.",
                        member.urn,
                    )

    with unread.deferred():
        if not any(map(_makes_nodes, members)) and stack.is_whole and not unread.met:
            yield from unknowns.each(members, judge)


def _makes_nodes(member: Member) -> bool:
    """Whether it makes nodes of sizes that no pool has."""
    if not is_cluster(member.type):
        return _KARPENTER.fullmatch(member.type) is not None
    modes = (at(member.properties, path) for path in ("nodeProvisioningProfile.mode", "sku.name"))
    is_automatic = any(str(mode).lower() in ("auto", "automatic") for mode in modes)
    return is_automatic or bool(at(member.properties, "aiToolchainOperatorProfile.enabled"))


def _is_queued(member: Member) -> bool:
    """Whether Kueue gives the pods selectors and tolerations."""
    labels = mapping(at(member.properties, "metadata.labels"))
    return any(str(label).startswith(_KUEUE) for label in labels)


def _asks_for_gpus(pods: Spec) -> bool:
    for container in containers_of(pods):
        # A limit alone is a request, too.
        limits = mapping(at(container, "resources.limits"))
        for name in limits:
            is_gpu = name in (GPU, GPU + SHARED) or name.startswith(MIG_PREFIX)
            if is_gpu and str(limits[name]) != "0":
                return True
    return False


def _misfit(found: StackPool, pods: Spec) -> str:
    """Returns why pods do not go to a pool; empty if they may."""
    # An API server may let pods tolerate a taint with the name of what they ask for.
    taints = [one for one in untolerated(found.pool, pods) if Taint.parse(one).key != GPU]
    if taints:
        return f"it does not tolerate {', '.join(taints)} of {found.member.name}"
    is_meant = is_selected(found.pool, pods)
    return "" if is_meant else f"it selects labels that {found.member.name} does not have"
