from __future__ import annotations

import base64
import gzip
import json

import pytest
import yaml

from tests.training.kubernetes.in_cluster import InCluster
from tests.training.platforms.eks.planning import outputs
from training.kubernetes import operator
from training.kubernetes.helm import Helm


def test_install_brings_the_operator_and_the_chart_and_status_finds_nothing_wrong(
    inside: InCluster,
) -> None:
    assert inside.install() == 0, inside.said
    server = inside.server
    assert server.names("daemonsets") == {"nvidia-device-plugin", "efa-device-plugin"}
    assert server.names("deployments") == {"mpi-operator", "cluster-autoscaler"}
    assert server.names("persistentvolumeclaims") == {"mask-rcnn-efs", "mask-rcnn-fsx"}
    assert server.names("jobs") == set()  # the one that made the folders has gone
    code, text = inside.run("status", "--format", "json")
    told = json.loads(text)
    assert (code, told["problems"]) == (0, [])
    assert told["release"] == {"status": "deployed", "revision": 1}
    assert told["claims"] == {"mask-rcnn-efs": "Bound", "mask-rcnn-fsx": "Bound"}


def test_installing_again_makes_a_new_revision_and_no_second_release(inside: InCluster) -> None:
    assert inside.install() == 0, inside.said
    assert inside.install("--no-autoscaler") == 0, inside.said
    release = Helm(inside.server.kubeconfig, "kube-system").release("mask-rcnn-cluster")
    assert release is not None
    assert (release.status, release.revision) == ("deployed", 2)
    assert inside.server.names("deployments") == {"mpi-operator"}
    assert inside.run("status")[0] == 0, inside.said


def test_dry_run_prints_what_is_installed_and_asks_no_cluster(inside: InCluster) -> None:
    inside.server.requests.clear()
    code, text = inside.install_text("--dry-run")
    assert (code, inside.server.requests) == (0, [])
    there = {(each["kind"], each["metadata"]["name"]) for each in yaml.safe_load_all(text) if each}
    assert {
        ("Namespace", "kubeflow"),
        ("PersistentVolume", "mask-rcnn-fsx"),
        ("Deployment", "mpi-operator"),
        ("NetworkPolicy", "deny-by-default"),
    } <= there


def test_another_manifest_than_the_pinned_one_is_refused(inside: InCluster) -> None:
    file = inside.folder / "other.yaml"
    file.write_text("kind: Namespace", encoding="utf-8")
    assert inside.run("install", "--mpi-operator-manifest", str(file))[0] == 2
    assert operator.SHA256 in inside.said
    assert inside.server.names("daemonsets") == set()


def test_a_cluster_of_another_version_is_refused_before_anything_is_made(
    inside: InCluster,
) -> None:
    inside.tell(outputs(KubernetesVersion="1.36").stacks)
    assert inside.install() == 3
    assert "runs Kubernetes 1.35, and KubernetesStack says 1.36" in inside.said
    assert inside.server.names("deployments") == set()


def test_a_cluster_without_the_drivers_is_refused(inside: InCluster) -> None:
    kind = inside.server.store.kind("storage.k8s.io", "v1", "csidrivers")
    inside.server.store.delete(kind, ("", "fsx.csi.aws.com"))
    assert inside.install() == 3
    assert "aws-fsx-csi-driver" in inside.said


def test_a_volume_of_another_file_system_is_told_with_how_to_remove_it(
    inside: InCluster,
) -> None:
    assert inside.install() == 0, inside.said
    stacks = {name: dict(stack) for name, stack in outputs().stacks.items()}
    stacks["StorageStack"]["FsxId"] = "fs-0fffffffffffffff9"
    inside.tell(stacks)
    assert inside.install() == 3
    assert "leads to fs-0123456789abcdef9, and StorageStack has fs-0fff" in inside.said
    assert "kubectl delete pv mask-rcnn-fsx" in inside.said


def test_parts_that_do_not_get_ready_are_named_and_the_next_try_goes_on(
    inside: InCluster,
) -> None:
    inside.server.workloads_succeed = False
    # Hooks are for later: without Lustre there are none.
    stacks = {name: dict(stack) for name, stack in outputs().stacks.items()}
    for key in [key for key in stacks["StorageStack"] if key.startswith("Fsx")]:
        del stacks["StorageStack"][key]
    inside.tell(stacks)
    assert inside.install("--wait", "1") == 4
    assert "did not get ready in time" in inside.said
    assert "status" in inside.said
    inside.server.workloads_succeed = True
    assert inside.install() == 0, inside.said


def test_an_identity_without_rights_is_told_how_to_get_them(inside: InCluster) -> None:
    inside.server.refusals["patch", "deployments"] = (403, "Forbidden", "deployments is forbidden")
    assert inside.install() == 4
    assert "eks_admin_arns" in inside.said


def test_what_another_made_is_left_to_it(inside: InCluster) -> None:
    account = {"name": "cluster-autoscaler", "namespace": "kube-system"}
    inside.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    assert inside.install() == 4
    assert "was made by something else" in inside.said


def test_a_killed_install_is_told_and_taken_over(inside: InCluster) -> None:
    assert inside.install() == 0, inside.said
    # helm's lock is the status in its record of the newest revision.
    locked = inside.server.find("secrets", "sh.helm.release.v1.mask-rcnn-cluster.v1", "kube-system")
    assert locked is not None
    record = json.loads(gzip.decompress(_twice_decoded(locked["data"]["release"])))
    record["version"], record["info"]["status"] = 2, "pending-upgrade"
    text = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode())))
    labels = {**locked["metadata"]["labels"], "version": "2", "status": "pending-upgrade"}
    meta = {"name": "sh.helm.release.v1.mask-rcnn-cluster.v2", "namespace": "kube-system"}
    inside.server.put(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": locked["type"],
            "metadata": {**meta, "labels": labels},
            "data": {"release": text.decode()},
        }
    )
    assert inside.install() == 4
    assert "--take-over" in inside.said
    assert inside.install("--take-over") == 0, inside.said
    release = Helm(inside.server.kubeconfig, "kube-system").release("mask-rcnn-cluster")
    assert release is not None
    assert release.status == "deployed"


def _twice_decoded(text: str) -> bytes:
    return base64.b64decode(base64.b64decode(text))


def test_an_install_that_is_stopped_early_says_so_in_one_sentence(
    inside: InCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.kubernetes.install.adopt_namespace", stopped)
    assert inside.install() == 130
    assert inside.said.splitlines()[-1].startswith(
        "stopped: not all is installed: part of it may be there"
    )
