"""The sample job of the AKS article: trains a small model, which shows that pods can use a GPU."""

from collections.abc import Sequence

import pulumi
from pulumi_kubernetes import batch, core, meta

from aks_catalogue import valid_clusters as valid
from aks_catalogue.device_plugin import GPU
from aks_catalogue.images import SAMPLE_JOB
from components.arguments import check
from components.declared import arguments, checked
from components.placement import FOR_NEW_NODES, toleration_args

_NAME = "samples-tf-mnist-demo"
_LABELS = {"app": _NAME}


@arguments
class SampleJobArgs:
    """The inputs of the sample job."""

    image: pulumi.Input[str] = checked(valid.NAMES_AN_IMAGE, default=SAMPLE_JOB)
    """The container image of the job. Default: the image of the AKS article, which trains on
    MNIST."""
    node_taints: pulumi.Input[Sequence[pulumi.Input[Sequence[pulumi.Input[str]]]]] = ()
    """The taints of the node pools that the job can run on, as one list for each pool. Default:
    only pools without taints."""
    resource_name: pulumi.Input[str] = GPU
    """The resource of which the job asks for one."""


class SampleJob(pulumi.ComponentResource):
    """A Kubernetes Job that requests one GPU.

    Pulumi waits up to 30 minutes for it, so that a node pool can scale up from zero.
    """

    job_name: pulumi.Output[str]
    """The name of the Job in Kubernetes."""

    def __init__(
        self, name: str, args: SampleJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__("aks-gpu:components:SampleJob", name, None, opts)
        self.job = batch.v1.Job(
            name,
            metadata=meta.v1.ObjectMetaArgs(name=_NAME, labels=_LABELS),
            spec=batch.v1.JobSpecArgs(template=_pod(args)),
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=FOR_NEW_NODES),
        )
        self.job_name = self.job.metadata["name"]
        self.register_outputs({"jobName": self.job_name})


def _pod(args: SampleJobArgs) -> "core.v1.PodTemplateSpecArgs":
    return core.v1.PodTemplateSpecArgs(
        metadata=meta.v1.ObjectMetaArgs(labels=_LABELS),
        spec=core.v1.PodSpecArgs(
            containers=[
                core.v1.ContainerArgs(
                    name=_NAME,
                    image=args.image,
                    args=["--max_steps", "500"],
                    image_pull_policy="IfNotPresent",
                    resources=core.v1.ResourceRequirementsArgs(
                        limits=pulumi.Output.from_input(args.resource_name).apply(
                            lambda name: {name: "1"}
                        )
                    ),
                )
            ],
            restart_policy="OnFailure",
            tolerations=toleration_args(args.node_taints).apply(lambda all_: all_ or None),
        ),
    )
