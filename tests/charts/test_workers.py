"""Where a job's pods run, what they ask for, and what they can reach."""

from __future__ import annotations

from typing import Any

import pytest

from tests.charts.matrix import IMAGE, TRAINING_VALUES
from tests.charts.rendering import launcher, only, pod_templates, render, variables, worker


def volumes(pod: dict[str, Any]) -> dict[str, Any]:
    return {each.pop("name"): each for each in pod["volumes"]}


def mounts(container: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    return {
        each["mountPath"]: (each["name"], each.get("readOnly", False))
        for each in container["volumeMounts"]
    }


@pytest.mark.parametrize(
    ("chart", "instance_type", "per_node", "asked"),
    [
        (
            "maskrcnn",
            "p3.16xlarge",
            None,
            {"cpu": "62", "memory": "424755Mi", "nvidia.com/gpu": 8},
        ),
        (
            "maskrcnn",
            "p3dn.24xlarge",
            None,
            {
                "cpu": "94",
                "memory": "668467Mi",
                "nvidia.com/gpu": 8,
                "vpc.amazonaws.com/efa": 1,
                "hugepages-2Mi": "5120Mi",
            },
        ),
        (
            "maskrcnn-horovod",
            "p5.48xlarge",
            4,
            {
                "cpu": "95",
                "memory": "891289Mi",
                "nvidia.com/gpu": 4,
                "vpc.amazonaws.com/efa": 16,
                "hugepages-2Mi": "2560Mi",
            },
        ),
        (
            "maskrcnn-horovod",
            "g4dn.xlarge",
            None,
            {"cpu": "3", "memory": "13926Mi", "nvidia.com/gpu": 1},
        ),
    ],
)
def test_a_worker_asks_for_what_its_instance_type_has(
    chart: str, instance_type: str, per_node: int | None, asked: dict[str, Any]
) -> None:
    values = {
        "maskrcnn": {"gpu_instance_type": instance_type, "nodes": 2, "gpus_per_node": per_node}
    }
    (container,) = worker(render(chart, values))["containers"]

    assert container["resources"] == {"requests": asked, "limits": asked}


def test_workers_have_shared_memory_of_their_own_in_place_of_64_mib() -> None:
    pod = worker(render("maskrcnn"))

    assert mounts(pod["containers"][0])["/dev/shm"] == ("shm", False)
    assert volumes(pod)["shm"] == {"emptyDir": {"medium": "Memory", "sizeLimit": "167116Mi"}}


def test_a_cluster_without_efa_is_asked_for_none() -> None:
    (container,) = worker(render("maskrcnn-horovod", {"resources": {"efa": 0}}))["containers"]

    assert set(container["resources"]["limits"]) == {"cpu", "memory", "nvidia.com/gpu"}


def test_workers_go_to_gpu_nodes_and_the_launcher_to_a_system_node() -> None:
    objects = render("maskrcnn")

    assert worker(objects)["nodeSelector"] == {"node.kubernetes.io/instance-type": "p3dn.24xlarge"}
    assert worker(objects)["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert launcher(objects)["nodeSelector"] == {"mask-rcnn/node": "system"}
    assert "tolerations" not in launcher(objects)
    limits = launcher(objects)["containers"][0]["resources"]["limits"]
    assert limits == {"cpu": "1", "memory": "2Gi"}


def test_data_on_the_other_file_system_is_mounted_read_only() -> None:
    values = {"global": {"shared_fs": "efs"}, "maskrcnn": {"data_fs": "fsx"}}
    objects = render("maskrcnn", values)

    for pod in (worker(objects), launcher(objects)):
        found = mounts(pod["containers"][0])
        assert (found["/efs"], found["/fsx"]) == (("efs", False), ("fsx", True))
        claims = volumes(pod)
        assert claims["efs"]["persistentVolumeClaim"]["claimName"] == "mask-rcnn-efs"
        assert claims["fsx"]["persistentVolumeClaim"] == {
            "claimName": "mask-rcnn-fsx",
            "readOnly": True,
        }
    assert variables(worker(objects))["MASK_RCNN_DATA"].startswith("/fsx/data/mask-rcnn/")
    assert variables(worker(objects))["MASK_RCNN_LOG"].startswith("/efs/maskrcnn-")


def test_the_claim_of_an_old_values_file_is_taken() -> None:
    pod = worker(render("maskrcnn", {"global": {"shared_pvc": "pv-fsx"}}))

    assert volumes(pod)["fsx"]["persistentVolumeClaim"]["claimName"] == "pv-fsx"


def test_data_on_s3_comes_to_the_nodes_disk_before_the_worker_starts() -> None:
    objects = render("maskrcnn", TRAINING_VALUES["data on S3"])
    pod = worker(objects)

    (copy,) = pod["initContainers"]
    source = "s3://a-bucket/mask-rcnn/sagemaker/input/train"
    assert copy["args"] == ["data", "fetch", source, "/scratch/data"]
    assert copy["image"] == IMAGE
    assert (
        mounts(copy)["/scratch"] == mounts(pod["containers"][0])["/scratch"] == ("scratch", False)
    )
    assert variables(pod)["MASK_RCNN_DATA"] == "/scratch/data"
    assert "initContainers" not in launcher(objects)
    assert "fsx" in volumes(launcher(objects))


def test_an_elastic_job_says_with_how_many_it_goes_on() -> None:
    values = {"job": {"distribution": "elastic", "least_nodes": 2}}

    told = variables(launcher(render("maskrcnn-horovod", values)))

    assert (told["MASK_RCNN_DISTRIBUTION"], told["MASK_RCNN_LEAST_HOSTS"]) == ("elastic", "2")


@pytest.mark.parametrize(
    ("scheduler", "version", "name"),
    [
        ("volcano", "scheduling.volcano.sh/v1beta1", "volcano"),
        ("scheduler-plugins", "scheduling.x-k8s.io/v1alpha1", "scheduler-plugins-scheduler"),
    ],
)
def test_a_gang_is_all_workers_and_not_the_launcher(
    scheduler: str, version: str, name: str
) -> None:
    objects = render("maskrcnn", {"maskrcnn": {"nodes": 4}, "gang": {"scheduler": scheduler}})

    group = only("PodGroup", objects)
    assert (group["apiVersion"], group["spec"]["minMember"]) == (version, 4)
    assert worker(objects)["schedulerName"] == name
    assert "schedulerName" not in launcher(objects)
    templates = dict(pod_templates(objects))
    marks = {
        "volcano": ("annotations", "scheduling.k8s.io/group-name"),
        "scheduler-plugins": ("labels", "scheduling.x-k8s.io/pod-group"),
    }
    where, mark = marks[scheduler]
    assert templates["Worker"]["metadata"][where][mark] == group["metadata"]["name"] == "job-gang"
    assert mark not in templates["Launcher"]["metadata"][where]


def test_pods_of_a_job_reach_each_other_names_and_https_only() -> None:
    policy = only("NetworkPolicy", render("maskrcnn", {"network_policy": {"https": False}}))["spec"]

    own = {"podSelector": {"matchLabels": policy["podSelector"]["matchLabels"]}}
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == [{"from": [own]}]
    assert [rule.get("to") for rule in policy["egress"]] == [
        [own],
        [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}],
    ]
    more = only("NetworkPolicy", render("maskrcnn"))["spec"]["egress"][2:]
    assert [port["port"] for rule in more for port in rule["ports"]] == [443, 80]
