"""NVIDIA's GPU Operator, installed with Helm for the GPU pools that leave their software to it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import Any

import pulumi
from pulumi_kubernetes import core, helm, meta

from aks_catalogue import gpu_operator
from aks_catalogue import valid_clusters as valid
from aks_catalogue import valid_pools as rules
from aks_catalogue.mistakes import Mistake
from aks_catalogue.valid import between, one_of
from aks_catalogue.valid_pools import OPERATOR
from components.arguments import found_mistakes, refuse
from components.declared import arguments, checked
from components.gpu_node_pool import GpuNodePool


@arguments
class OperatorPoolArgs:
    """A GPU node pool for the GPU Operator."""

    gpu_stack: str = checked(rules.GPU_STACK, default=OPERATOR)
    """What installs the GPU driver and the device plugin on the pool. The operator serves only
    pools with `operator`."""
    node_taints: pulumi.Input[Sequence[pulumi.Input[str]]] = checked(
        each=[rules.VALID_TAINT], default=()
    )
    """The taints of the pool, each as `key=value:effect`. The operands tolerate them. Default:
    none."""
    has_mig: bool = False
    """Whether the pool has a MIG profile."""

    @classmethod
    def of(cls, pool: GpuNodePool) -> "OperatorPoolArgs":
        """Returns the inputs for a GpuNodePool of the same program."""
        return cls(gpu_stack=pool.gpu_stack, node_taints=pool.node_taints, has_mig=pool.has_mig)


@arguments
class NvidiaGpuOperatorArgs:
    """The inputs of NVIDIA's GPU Operator."""

    driver: str = checked(one_of(*gpu_operator.PROFILES), default="aks")
    """What installs the GPU driver and the container runtime on the pools: `aks`, or `operator`.
    The same as `gpu_operator_driver` of each pool."""
    version: pulumi.Input[str] = checked(valid.CHART_VERSION, default=gpu_operator.VERSION)
    """The version of the Helm chart, with its `v`."""
    namespace: pulumi.Input[str] = gpu_operator.NAMESPACE
    """The Kubernetes namespace of the operator, which this component creates."""
    timeout_seconds: pulumi.Input[int] = checked(between(1, 86400), default=1800)
    """How long Helm waits for the operator, in seconds."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Additional values of the chart, as nested maps. They cannot contradict `driver`. The operands
    tolerate the taints of the pools without any."""
    pools: Sequence[OperatorPoolArgs] = ()
    """The GPU node pools of the cluster. At least one must have the GPU stack `operator`."""


class NvidiaGpuOperator(pulumi.ComponentResource):
    """NVIDIA's GPU Operator, as a Helm release in a namespace of its own.

    On a node, driver and container runtime have to come from the same owner: either AKS or the
    operator. Give pools with another GPU stack the label
    `nvidia.com/gpu.deploy.operands: "false"`, so that the operator leaves them alone.
    """

    namespace: pulumi.Output[str]
    """The Kubernetes namespace of the operator."""
    release_name: pulumi.Output[str]
    """The name of the Helm release."""

    def __init__(
        self, name: str, args: NvidiaGpuOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        served = [pool for pool in args.pools if pool.gpu_stack == OPERATOR]
        has_mig = any(pool.has_mig for pool in served)
        refuse(name, [*_mistakes(args, served, has_mig=has_mig)])
        super().__init__("aks-gpu:components:NvidiaGpuOperator", name, None, opts)
        namespace = core.v1.Namespace(
            name,
            metadata=meta.v1.ObjectMetaArgs(name=args.namespace),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.namespace = namespace.metadata["name"]
        taints = pulumi.Output.all(*[pool.node_taints for pool in served])
        self.release = helm.v3.Release(
            name,
            name=gpu_operator.CHART,
            namespace=self.namespace,
            chart=gpu_operator.CHART,
            repository_opts=helm.v3.RepositoryOptsArgs(repo=gpu_operator.REPOSITORY),
            version=args.version,
            timeout=args.timeout_seconds,
            values=pulumi.Output.all(taints, args.values).apply(
                lambda known: gpu_operator.values(
                    args.driver, [*chain(*known[0])], known[1], has_mig=has_mig
                )
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.release_name = self.release.name.apply(str)
        self.register_outputs({"namespace": self.namespace, "releaseName": self.release_name})


def _mistakes(
    args: NvidiaGpuOperatorArgs, served: Sequence[OperatorPoolArgs], *, has_mig: bool
) -> Iterator[Mistake]:
    yield from found_mistakes(args)
    if not served:
        yield Mistake(
            "pools",
            "no pool has the GPU stack 'operator', so no node needs the operator: pass a pool that "
            "has it, or remove this component",
        )
    if args.driver in gpu_operator.PROFILES:
        yield from gpu_operator.contradictions(
            args.driver, _without_outputs(args.values), "values", has_mig=has_mig
        )


def _without_outputs(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_outputs(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if not isinstance(value, pulumi.Output)
    }
