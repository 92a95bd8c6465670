import pytest

from components import GpuNodePool, GpuNodePoolArgs, SampleJob, SampleJobArgs
from tests.conftest import Deploy

# The article's job, field by field.
ARTICLE = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "samples-tf-mnist-demo", "labels": {"app": "samples-tf-mnist-demo"}},
    "spec": {
        "template": {
            "metadata": {"labels": {"app": "samples-tf-mnist-demo"}},
            "spec": {
                "containers": [
                    {
                        "name": "samples-tf-mnist-demo",
                        "image": "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu",
                        "args": ["--max_steps", "500"],
                        "imagePullPolicy": "IfNotPresent",
                        "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    }
                ],
                "restartPolicy": "OnFailure",
            },
        }
    },
}


@pytest.mark.parametrize("preview", [True, False])
def test_the_sample_job_is_the_articles_by_default(deploy: Deploy, preview: bool) -> None:
    graph = deploy(lambda: SampleJob("sample-job", SampleJobArgs()), preview=preview)

    job = graph.only("Job")
    assert (job.name, job.parent) == ("sample-job", "sample-job")
    assert job.inputs == ARTICLE
    # A pool may have to grow from zero first.
    assert job.options.customTimeouts.create == "30m"
    assert list(graph.outputs.values()) == [{"jobName": "samples-tf-mnist-demo"}]


def test_the_sample_job_can_run_on_any_of_its_pools(deploy: Deploy) -> None:
    def program() -> None:
        args = GpuNodePoolArgs(
            resource_group_name="g", cluster_name="c", pool_name="gpu", vm_size="Standard_NC6"
        )
        pool = GpuNodePool("gpu", args)
        SampleJob("sample-job", SampleJobArgs(node_taints=[pool.node_taints]))

    spec = deploy(program).only("Job").inputs["spec"]["template"]["spec"]
    assert spec["tolerations"] == [
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    ]


def test_the_sample_job_accepts_another_image(deploy: Deploy) -> None:
    graph = deploy(lambda: SampleJob("sample-job", SampleJobArgs(image="my/job:1")))

    (container,) = graph.only("Job").inputs["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "my/job:1"
