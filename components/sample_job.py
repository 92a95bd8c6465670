"""The article's sample job: it trains a small model, and so shows that a GPU can be used."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes import batch, core, meta

from catalogue.device_plugin import GPU
from catalogue.images import SAMPLE_JOB
from components.gpu_node_pool import GpuNodePool
from components.placement import tolerations

_NAME = "samples-tf-mnist-demo"
_LABELS = {"app": _NAME}


@dataclass(frozen=True, kw_only=True)
class SampleJobArgs:
    image: pulumi.Input[str] = SAMPLE_JOB
    # The pools that the job may land on, whatever they are tainted with.
    pools: Sequence[GpuNodePool] = ()


class SampleJob(pulumi.ComponentResource):
    """A job that asks for one GPU."""

    job_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: SampleJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:SampleJob", name, None, opts)
        job = batch.v1.Job(
            name,
            metadata=meta.v1.ObjectMetaArgs(name=_NAME, labels=_LABELS),
            spec=batch.v1.JobSpecArgs(template=_pod(args)),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.job_name = job.metadata["name"]
        self.register_outputs({"jobName": self.job_name})


def _pod(args: SampleJobArgs) -> core.v1.PodTemplateSpecArgs:
    taints = [taint for pool in args.pools for taint in pool.node_taints]
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
            tolerations=[core.v1.TolerationArgs(**wanted) for wanted in tolerations(taints)]
            or None,
        ),
    )
