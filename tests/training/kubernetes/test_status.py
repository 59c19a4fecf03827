from __future__ import annotations

import json

from tests.training.kubernetes.conftest import node
from tests.training.kubernetes.in_cluster import InCluster
from tests.training.platforms.eks.planning import outputs


def test_an_empty_cluster_has_a_sentence_for_each_thing_that_is_missing(inside: InCluster) -> None:
    code, text = inside.run("status", "--format", "json")
    problems = json.loads(text)["problems"]
    assert code == 3
    assert [each.split(":")[0] for each in problems] == [
        "Release mask-rcnn-cluster is not installed",
        "The cluster does not know MPIJobs",
        "nvidia-device-plugin is not there",
        "efa-device-plugin is not there",
        "cluster-autoscaler is not there",
        "mpi-operator is not there",
        "Claim mask-rcnn-efs is not there",
    ]


def test_nodes_that_lack_gpus_or_are_not_ready_are_named(inside: InCluster) -> None:
    inside.install()
    whole = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"}
    inside.server.put(node("whole", "gpu", **whole))
    inside.server.put(node("seven", "gpu", **{**whole, "nvidia.com/gpu": "7"}))
    gone = node("gone", "gpu", **whole)
    gone["status"]["conditions"][0]["status"] = "Unknown"  # type: ignore[index]
    inside.server.put(gone)
    code, text = inside.run("status", "--format", "json")
    told = json.loads(text)
    assert code == 3
    assert told["gpu_nodes"] == {
        "now": 3, "most": 8, "type": "p4d.24xlarge", "gpus": 23, "efa": 12
    }  # fmt: skip
    assert told["problems"] == [
        "Node gone is not ready: kubectl describe node gone.",
        "Node seven (p4d.24xlarge) offers 7 of 8 nvidia.com/gpu: look at its pod of "
        "nvidia-device-plugin in kube-system, or replace the node.",
    ]


def test_a_part_that_fails_and_a_claim_that_is_lost_are_named(inside: InCluster) -> None:
    inside.install()
    part = inside.server.find("deployments", "cluster-autoscaler", "kube-system")
    claim = inside.server.find("persistentvolumeclaims", "mask-rcnn-fsx")
    assert part is not None
    assert claim is not None
    inside.server.workloads_succeed = False
    inside.server.put({**part, "status": {"readyReplicas": 0}})
    inside.server.put({**claim, "status": {"phase": "Lost"}})
    code, _ = inside.run("status")
    assert code == 3
    assert "cluster-autoscaler is not ready (0 of 1 pods)" in inside.said
    assert "Claim mask-rcnn-fsx is Lost" in inside.said


def test_a_cluster_that_does_not_answer_ends_4(inside: InCluster) -> None:
    inside.server.kubeconfig.write_text(
        inside.server.kubeconfig.read_text().replace("http://127.0.0.1:", "http://127.0.0.1:1")
    )
    assert inside.run("status")[0] == 4


def test_an_output_that_is_no_number_is_told_by_name(inside: InCluster) -> None:
    inside.tell(outputs(MostGpuNodes="many").stacks)
    assert inside.run("status")[0] == 2
    assert "KubernetesStack.MostGpuNodes is 'many'; expected a whole number" in inside.said
