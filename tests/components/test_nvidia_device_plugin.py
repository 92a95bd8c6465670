from collections.abc import Callable
from typing import Any

import pulumi
import pytest
import yaml

from components import (
    GpuNodePool,
    GpuNodePoolArgs,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    SharingArgs,
    TimeSlicingArgs,
)
from tests.conftest import Deploy, Graph

POOL_LABEL = "kubernetes.azure.com/agentpool"


def on_pools(*names: str) -> dict[str, Any]:
    """The affinity that binds pods to these pools."""
    term = {"matchExpressions": [{"key": POOL_LABEL, "operator": "In", "values": list(names)}]}
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


# The article's DaemonSet, field by field, on the pool that needs it.
ARTICLE: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "gpu-resources"},
    "spec": {
        "selector": {"matchLabels": {"name": "nvidia-device-plugin-ds"}},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {
                "annotations": {"scheduler.alpha.kubernetes.io/critical-pod": ""},
                "labels": {"name": "nvidia-device-plugin-ds"},
            },
            "spec": {
                "tolerations": [
                    {"key": "CriticalAddonsOnly", "operator": "Exists"},
                    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                ],
                "affinity": on_pools("nodepool1"),
                "containers": [
                    {
                        "name": "nvidia-device-plugin-ctr",
                        "image": "mcr.microsoft.com/oss/nvidia/k8s-device-plugin:1.11",
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volumeMounts": [
                            {
                                "name": "device-plugin",
                                "mountPath": "/var/lib/kubelet/device-plugins",
                            }
                        ],
                    }
                ],
                "volumes": [
                    {
                        "name": "device-plugin",
                        "hostPath": {"path": "/var/lib/kubelet/device-plugins"},
                    }
                ],
            },
        },
    },
}


def pool(name: str, **more: Any) -> GpuNodePool:
    return GpuNodePool(
        name,
        GpuNodePoolArgs(
            resource_group_name="g",
            cluster_name="c",
            pool_name=name,
            vm_size=f"Standard_{'NC24ads_A100_v4' if 'mig_profile' in more else 'NC8as_T4_v3'}",
            **more,
        ),
    )


NODEPOOL = PluginPoolArgs(pool_name="nodepool1")


def plugin(*pools: GpuNodePool | PluginPoolArgs, **args: Any) -> NvidiaDevicePlugin:
    every = [
        PluginPoolArgs.of(pool) if isinstance(pool, GpuNodePool) else pool
        for pool in pools or [NODEPOOL]
    ]
    return NvidiaDevicePlugin("device-plugin", NvidiaDevicePluginArgs(**{"pools": every, **args}))


def pod(deploy: Deploy, program: Callable[[], object]) -> dict[str, Any]:
    spec = deploy(program).only("DaemonSet").inputs["spec"]["template"]["spec"]
    return dict(spec)


@pytest.mark.parametrize("preview", [True, False])
def test_the_articles_edition_equals_the_articles_manifest(deploy: Deploy, preview: bool) -> None:
    graph = deploy(lambda: plugin(edition="article"), preview=preview)

    namespace, daemon_set = graph.only("Namespace"), graph.only("DaemonSet")
    assert (namespace.name, namespace.parent) == ("device-plugin", "device-plugin")
    assert namespace.inputs["metadata"] == {"name": "gpu-resources"}
    assert (daemon_set.name, daemon_set.parent) == ("device-plugin", "device-plugin")
    assert daemon_set.inputs == ARTICLE


def test_todays_edition_is_the_default_with_a_priority_and_limits(deploy: Deploy) -> None:
    """Whoever wrote NvidiaDevicePluginArgs() got a plugin of 2018."""
    graph = deploy(lambda: plugin(namespace="elsewhere"))

    daemon_set = graph.only("DaemonSet").inputs
    template = daemon_set["spec"]["template"]
    assert daemon_set["metadata"]["namespace"] == "elsewhere"
    assert "annotations" not in template["metadata"]
    assert template["spec"]["priorityClassName"] == "system-node-critical"
    (container,) = template["spec"]["containers"]
    assert container["image"] == "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"
    assert container["resources"] == {
        "requests": {"cpu": "50m", "memory": "64Mi"},
        "limits": {"memory": "256Mi"},
    }


def test_the_plugin_accepts_another_image(deploy: Deploy) -> None:
    (container,) = pod(deploy, lambda: plugin(image="my/plugin:1"))["containers"]

    assert container["image"] == "my/plugin:1"


@pytest.mark.parametrize("replacement", ["in-place", "rotate"])
def test_the_order_of_pools_changes_nothing_of_the_plugin(deploy: Deploy, replacement: str) -> None:
    """Two rungs of a capacity changed places, and the plugin of all their nodes restarted."""
    more = {"replacement": replacement}

    def program(*names: str) -> Callable[[], object]:
        return lambda: plugin(
            *(pool(name, taints=[f"only={name}:NoSchedule"], **more) for name in names)
        )

    one, other = (
        deploy(program(*names)).only("DaemonSet").inputs for names in (("b", "a"), ("a", "b"))
    )
    assert one == other


def test_the_plugin_tolerates_each_taint_of_its_pools_once(deploy: Deploy) -> None:
    def program() -> None:
        plugin(pool("a"), pool("b", spot=True, taints=["nvidia.com/gpu:NoSchedule"]))

    conventional = ARTICLE["spec"]["template"]["spec"]["tolerations"]
    assert pod(deploy, program)["tolerations"] == [
        *conventional,
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        {
            "key": "kubernetes.azure.com/scalesetpriority",
            "operator": "Equal",
            "value": "spot",
            "effect": "NoSchedule",
        },
    ]


def test_the_plugin_runs_only_on_pools_that_need_it(deploy: Deploy) -> None:
    """Without a positive affinity the plugin went to every node without a taint.

    On a node without a GPU it crashes, and on a pool that is not in this stack it may be the
    second one. `NotIn` lets both happen.
    """

    def program() -> None:
        pools = [
            pool("own"),
            pool("image", gpu_stack="specialized-image", taints=["theirs:NoSchedule"]),
            pool("operator", gpu_stack="none"),
        ]
        plugin(*pools, NODEPOOL)

    spec = pod(deploy, program)
    assert spec["affinity"] == on_pools("nodepool1", "own")
    assert "theirs" not in [toleration["key"] for toleration in spec["tolerations"]]


def test_pools_with_a_mig_profile_get_a_daemon_set_that_sees_partitions(deploy: Deploy) -> None:
    """Without a strategy the plugin offers an A100 cut into seven as one GPU."""

    def program() -> None:
        plugin(pool("whole"), pool("parts", mig_profile="MIG1g", taints=["a=b:NoSchedule"]))

    whole, parts = deploy(program).all("DaemonSet")
    assert (whole.name, parts.name) == ("device-plugin", "device-plugin-mig")
    assert parts.inputs["metadata"]["name"] == "nvidia-device-plugin-daemonset-mig"
    labels = {"name": "nvidia-device-plugin-ds-mig"}
    assert parts.inputs["spec"]["selector"]["matchLabels"] == labels
    assert parts.inputs["spec"]["template"]["metadata"]["labels"] == labels
    specs = [resource.inputs["spec"]["template"]["spec"] for resource in (whole, parts)]
    assert [spec["affinity"] for spec in specs] == [on_pools("whole"), on_pools("parts")]
    assert ["a" in [each["key"] for each in spec["tolerations"]] for spec in specs] == [False, True]
    containers = [spec["containers"][0] for spec in specs]
    assert "env" not in containers[0]
    assert containers[0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert containers[1]["env"] == [
        {"name": "MIG_STRATEGY", "value": "single"},
        {"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"},
    ]
    assert containers[1]["securityContext"] == {"capabilities": {"add": ["SYS_ADMIN"]}}


def test_pools_that_all_have_a_mig_profile_need_one_daemon_set(deploy: Deploy) -> None:
    graph = deploy(lambda: plugin(pool("parts", mig_profile="MIG1g")))

    assert graph.only("DaemonSet").name == "device-plugin-mig"


def shared(replicas: int = 4, **more: Any) -> SharingArgs:
    return SharingArgs(time_slicing=TimeSlicingArgs(replicas=replicas, **more))


def test_there_is_one_daemon_set_for_each_profile_of_the_pools(deploy: Deploy) -> None:
    """A new profile changes no name of another: states of earlier versions stay as they are."""

    def program() -> None:
        plugin(
            pool("z", sharing=shared()),
            pool("plain"),
            pool("single", mig_profile="MIG1g"),
            pool("mixed", mig_profile="MIG1g", mig_strategy="mixed"),
            pool("alone", sharing=shared(8)),
            pool("same", sharing=shared()),
            pool("both", mig_profile="MIG2g", sharing=shared()),
            pool("explicit", mig_profile="MIG3g", mig_strategy="single"),
        )

    made = {resource.name: resource.inputs for resource in deploy(program).all("DaemonSet")}
    assert {name: pools_of(daemon_set) for name, daemon_set in made.items()} == {
        "device-plugin": ["plain"],
        "device-plugin-mig": ["explicit", "single"],
        "device-plugin-mig-mixed": ["mixed"],
        "device-plugin-shared-alone": ["alone"],
        "device-plugin-shared-both": ["both"],
        "device-plugin-shared-same": ["same", "z"],
    }
    for name, daemon_set in made.items():
        suffix = name.removeprefix("device-plugin")
        assert daemon_set["metadata"]["name"] == f"nvidia-device-plugin-daemonset{suffix}"
        labels = daemon_set["spec"]["template"]["metadata"]["labels"]
        assert labels == {"name": f"nvidia-device-plugin-ds{suffix}"}
    (container,) = made["device-plugin-mig-mixed"]["spec"]["template"]["spec"]["containers"]
    assert {"name": "MIG_STRATEGY", "value": "mixed"} in container["env"]
    (container,) = made["device-plugin-shared-both"]["spec"]["template"]["spec"]["containers"]
    assert [variable["name"] for variable in container["env"]] == [
        "MIG_STRATEGY",
        "NVIDIA_MIG_MONITOR_DEVICES",
        "CONFIG_FILE",
    ]
    assert container["securityContext"] == {"capabilities": {"add": ["SYS_ADMIN"]}}


def pools_of(daemon_set: dict[str, Any]) -> Any:
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return term["matchExpressions"][0]["values"]


@pytest.mark.parametrize("preview", [True, False])
def test_a_plugin_that_shares_gpus_restarts_when_its_config_changes(
    deploy: Deploy, preview: bool
) -> None:
    """The plugin reads its file only when it starts: a new file alone changes nothing."""

    def made(**slicing: Any) -> tuple[Any, Any]:
        graph = deploy(lambda: plugin(pool("gpu", sharing=shared(**slicing))), preview=preview)
        return graph.only("ConfigMap"), graph.only("DaemonSet").inputs

    config, daemon_set = made()
    assert (config.name, config.parent) == ("device-plugin-shared-gpu", "device-plugin")
    assert config.inputs["metadata"] == daemon_set["metadata"]
    assert yaml.safe_load(config.inputs["data"]["config.yaml"]) == {
        "version": "v1",
        "sharing": {
            "timeSlicing": {
                "renameByDefault": False,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
            }
        },
    }
    template = daemon_set["spec"]["template"]
    (container,) = template["spec"]["containers"]
    assert container["env"] == [{"name": "CONFIG_FILE", "value": "/config/config.yaml"}]
    assert container["volumeMounts"][1] == {
        "name": "config",
        "mountPath": "/config",
        "readOnly": True,
    }
    assert template["spec"]["volumes"][1] == {
        "name": "config",
        "configMap": {"name": config.inputs["metadata"]["name"]},
    }
    before = template["metadata"]["annotations"]["checksum/config"]
    changes: list[dict[str, Any]] = [
        {"replicas": 5},
        {"rename": True},
        {"fail_requests_greater_than_one": False},
    ]
    for changed in changes:
        config_after, after = made(**changed)
        assert config_after.inputs["data"] != config.inputs["data"]
        assert after["metadata"] == daemon_set["metadata"]
        assert after["spec"]["template"]["metadata"]["annotations"]["checksum/config"] != before


def test_the_name_of_a_pool_that_shares_gpus_can_be_an_output(deploy: Deploy) -> None:
    def program() -> None:
        name = pulumi.Output.from_input("gpu")
        taken = PluginPoolArgs(pool_name=name, sharing=shared(), name="mine")
        plugin(taken, pool("b", sharing=shared(3)))
        with pytest.raises(pulumi.InputPropertiesError) as refused:
            plugin(PluginPoolArgs(pool_name=name, sharing=shared()))
        assert [mistake["property_path"] for mistake in refused.value.errors or ()] == [
            "pools[0].name"
        ]

    made = deploy(program).all("DaemonSet")
    names = [resource.name for resource in made]
    assert names == ["device-plugin-shared-b", "device-plugin-shared-mine"]


def test_an_existing_namespace_can_be_used(deploy: Deploy) -> None:
    graph = deploy(lambda: plugin(namespace="kube-system", create_namespace=False))

    assert not graph.all("Namespace")
    assert graph.only("DaemonSet").inputs["metadata"]["namespace"] == "kube-system"


@pytest.mark.parametrize(
    ("args", "mistakes"),
    [
        (
            {"edition": "yesterday"},
            ["edition: must be 'today' or 'article', not 'yesterday'"],
        ),
        ({"pools": []}, ["pools: no pool has the GPU stack 'device-plugin'"]),
        (
            {"edition": "x", "pools": []},
            ["edition: must be 'today' or 'article', not 'x'", "pools: no pool"],
        ),
        (
            {
                "edition": "article",
                "pools": [PluginPoolArgs(pool_name="parts", has_mig=True)],
            },
            [
                "edition: the plugin of edition: article does not support MIG, which these pools "
                "use: parts"
            ],
        ),
        (
            {
                "edition": "article",
                "pools": [
                    PluginPoolArgs(pool_name="parts", has_mig=True),
                    PluginPoolArgs(
                        pool_name="gpu",
                        sharing=SharingArgs(time_slicing=TimeSlicingArgs(replicas=2)),
                    ),
                ],
            },
            [
                "edition: the plugin of edition: article does not support MIG or sharing, which "
                "these pools use: parts, gpu"
            ],
        ),
        (
            {
                "pools": [
                    PluginPoolArgs(pool_name="a", mig_strategy="single"),
                    PluginPoolArgs(pool_name="b", has_mig=True, mig_strategy="both"),
                    PluginPoolArgs(
                        pool_name="c",
                        has_mig=True,
                        mig_strategy="mixed",
                        sharing=SharingArgs(time_slicing=TimeSlicingArgs(replicas=1)),
                    ),
                    PluginPoolArgs(pool_name="d", gpu_stack="none", sharing=SharingArgs()),
                    PluginPoolArgs(pool_name="e", sharing=SharingArgs()),
                ],
            },
            [
                "pools[0].migStrategy: applies only to partitioned GPUs",
                "pools[1].migStrategy: must be 'single' or 'mixed', not 'both'",
                "pools[2].sharing: shares nvidia.com/gpu, but with migStrategy: mixed",
                "pools[2].sharing.timeSlicing.replicas: is 1, which shares nothing",
                "pools[3].sharing: is a setting of the device plugin of gpuStack: device-plugin",
                "pools[3].sharing.timeSlicing: is required",
                "pools[4].sharing.timeSlicing: is required",
            ],
        ),
    ],
)
def test_all_mistakes_are_reported_at_once(
    deploy: Deploy, args: dict[str, Any], mistakes: list[str]
) -> None:
    with pytest.raises(pulumi.InputPropertiesError, match="device-plugin: ") as refused:
        deploy(lambda: plugin(**args))

    lines = str(refused.value).splitlines()
    assert len(lines) == len(mistakes)
    for line, mistake in zip(lines, mistakes, strict=True):
        assert line.startswith(f"device-plugin: {mistake}")


def test_the_plugin_registers_its_outputs(deploy: Deploy) -> None:
    def program() -> None:
        plugin(
            NODEPOOL,
            PluginPoolArgs(pool_name="parts", has_mig=True),
            namespace="there",
            create_namespace=False,
        )

    graph: Graph = deploy(program)

    assert list(graph.outputs.values()) == [
        {
            "namespace": "there",
            "daemonSetNames": [
                "nvidia-device-plugin-daemonset",
                "nvidia-device-plugin-daemonset-mig",
            ],
        }
    ]
