"""GPUs that stay with the pods that asked for them, on all nodes of a cluster."""

from collections.abc import Sequence

import pulumi
from pulumi_kubernetes import meta
from pulumi_kubernetes.admissionregistration import v1 as admission

from aks_catalogue import gpu_isolation
from aks_catalogue import valid_clusters as valid
from aks_catalogue.valid import one_of
from components import isolation_policies
from components.arguments import check
from components.declared import arguments, checked

_ACTIONS = {"deny": ["Deny"], "warn": ["Warn", "Audit"]}
# The API server unites the actions of a binding that changes, and `Deny` and `Warn` exclude each
# other. So each choice has a binding of its own, which is there before the other one goes.
_BINDINGS = {"deny": "", "warn": "-warn"}


@arguments
class GpuIsolationArgs:
    """The inputs of the isolation of GPUs."""

    violations: str = checked(one_of(*_ACTIONS), default="deny")
    """What the API server does with a pod that takes another way to GPUs than to ask for them: it
    sets `NVIDIA_VISIBLE_DEVICES` by hand, is privileged, or mounts the devices. `deny` refuses it;
    `warn` accepts it with a warning, and an entry in the audit log."""
    exempt_namespaces: Sequence[pulumi.Input[str]] = checked(each=[valid.NAMESPACE], default=())
    """Namespaces that are left alone, as their agents need all GPUs or are privileged. Those
    with AKS's privileged agents, `gpu-resources` and `gpu-operator` are exempt too, and each with
    the label `aks-gpu/gpu-isolation=exempt`."""


class GpuIsolation(pulumi.ComponentResource):
    """Admission policies with which a pod sees only the GPUs that it asked for.

    On nodes where AKS installs the driver, a container of an image with CUDA sees all GPUs, if
    nothing says otherwise. New containers that ask for none get `NVIDIA_VISIBLE_DEVICES=void`, and
    other ways to the devices are refused. Needs Kubernetes 1.36. One of these is enough for a
    cluster; running pods stay as they are until they are restarted.
    """

    policy_names: pulumi.Output[list[str]]
    """The names of the policies in Kubernetes."""

    def __init__(
        self, name: str, args: GpuIsolationArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__("aks-gpu:components:GpuIsolation", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        exempt = pulumi.Output.all(*gpu_isolation.AGENTS, *args.exempt_namespaces).apply(
            lambda namespaces: [*dict.fromkeys(namespaces)]
        )
        hiding = admission.MutatingAdmissionPolicy(
            f"{name}-hides-gpus",
            metadata=meta.v1.ObjectMetaArgs(name="aks-gpu-isolation"),
            spec=exempt.apply(isolation_policies.hide_gpus),
            opts=child,
        )
        admission.MutatingAdmissionPolicyBinding(
            f"{name}-hides-gpus",
            metadata=meta.v1.ObjectMetaArgs(name=hiding.metadata["name"]),
            spec=admission.MutatingAdmissionPolicyBindingSpecArgs(
                policy_name=hiding.metadata["name"]
            ),
            opts=child,
        )
        names = [hiding.metadata["name"]]
        for suffix, spec in (
            ("pods", isolation_policies.refuse_other_ways),
            ("variables", isolation_policies.refuse_variables),
        ):
            policy = admission.ValidatingAdmissionPolicy(
                f"{name}-{suffix}",
                metadata=meta.v1.ObjectMetaArgs(name=f"aks-gpu-isolation-{suffix}"),
                spec=exempt.apply(spec),
                opts=child,
            )
            binding = f"aks-gpu-isolation-{suffix}{_BINDINGS[args.violations]}"
            admission.ValidatingAdmissionPolicyBinding(
                f"{name}-{suffix}",
                metadata=meta.v1.ObjectMetaArgs(name=binding),
                spec=admission.ValidatingAdmissionPolicyBindingSpecArgs(
                    policy_name=policy.metadata["name"],
                    validation_actions=_ACTIONS[args.violations],
                ),
                opts=child,
            )
            names.append(policy.metadata["name"])
        self.policy_names = pulumi.Output.all(*names).apply(list)
        self.register_outputs({"policyNames": self.policy_names})
