"""The article's sample job: it trains a small model, and so shows that a GPU can be used."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes import batch, core, meta

from catalogue import valid_clusters
from catalogue.device_plugin import GPU
from catalogue.images import SAMPLE_JOB
from components.arguments import check
from components.placement import FOR_NEW_NODES, toleration_args

_NAME = "samples-tf-mnist-demo"
_LABELS = {"app": _NAME}


@dataclass(frozen=True, kw_only=True)
class SampleJobArgs:
    """What the job runs, and where it may land."""

    image: pulumi.Input[str] = SAMPLE_JOB
    """The job's image."""
    node_taints: pulumi.Input[Sequence[pulumi.Input[Sequence[pulumi.Input[str]]]]] = ()
    """The taints of the pools that the job may land on, pool by pool."""


class SampleJob(pulumi.ComponentResource):
    """A job that asks for one GPU.

    It may take 30 minutes, so that a pool can grow from zero for it.
    """

    job_name: pulumi.Output[str]
    """The job's name in Kubernetes."""

    def __init__(
        self, name: str, args: SampleJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, valid_clusters.SAMPLE_JOB)
        super().__init__("aks-gpu:components:SampleJob", name, None, opts)
        self.job = batch.v1.Job(
            name,
            metadata=meta.v1.ObjectMetaArgs(name=_NAME, labels=_LABELS),
            spec=batch.v1.JobSpecArgs(template=_pod(args)),
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=FOR_NEW_NODES),
        )
        self.job_name = self.job.metadata["name"]
        self.register_outputs({"jobName": self.job_name})


def _pod(args: SampleJobArgs) -> core.v1.PodTemplateSpecArgs:
    return core.v1.PodTemplateSpecArgs(
        metadata=meta.v1.ObjectMetaArgs(labels=_LABELS),
        spec=core.v1.PodSpecArgs(
            containers=[
                core.v1.ContainerArgs(
                    name=_NAME,
                    image=args.image,
                    args=["--max_steps", "500"],
                    image_pull_policy="IfNotPresent",
                    resources=core.v1.ResourceRequirementsArgs(limits={GPU: "1"}),
                )
            ],
            restart_policy="OnFailure",
            tolerations=toleration_args(args.node_taints).apply(lambda found: found or None),
        ),
    )
