"""The chart of the cluster's own parts: what it makes, what its pods may do, what it refuses."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.training.platforms.eks.planning import outputs
from training.errors import UsageError
from training.kubernetes.helm import template
from training.kubernetes.images import pinned
from training.kubernetes.plan import CHART, NAMESPACE, RELEASE, plan
from training.outputs import Outputs

Object = dict[str, Any]


def _plan(stacks: Outputs, *, autoscaler: bool = True) -> dict[str, Any]:
    made = plan(stacks, pinned("1.35", efa=True), "", autoscaler=autoscaler)
    return copy.deepcopy(dict(made.values))


def _without_fsx() -> Outputs:
    stacks = {name: dict(stack) for name, stack in outputs(Efa="false").stacks.items()}
    storage = stacks["StorageStack"]
    stacks["StorageStack"] = {k: v for k, v in storage.items() if not k.startswith("Fsx")}
    return Outputs(stacks, source="outputs.json")


def _with_internet() -> Outputs:
    stacks = {name: dict(stack) for name, stack in outputs().stacks.items()}
    stacks["NetworkStack"]["PublicSubnetIds"] = "subnet-0123456789abcdef9"
    return Outputs(stacks, source="outputs.json")


MATRIX = {
    "all": _plan(outputs()),
    "internet": _plan(_with_internet()),
    "no-fsx-no-efa": _plan(_without_fsx()),
    "no-autoscaler": _plan(outputs(), autoscaler=False),
}


def _render(values: dict[str, Any]) -> list[Object]:
    text = template(RELEASE, CHART, values, namespace=NAMESPACE, kube_version="1.35")
    return [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]


@cache
def _of(name: str) -> tuple[Object, ...]:
    return tuple(_render(MATRIX[name]))


def _find(objects: tuple[Object, ...], kind: str, name: str) -> Object:
    (found,) = (o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name))
    return found


def _pods(objects: tuple[Object, ...]) -> Iterator[tuple[str, Object]]:
    for each in objects:
        if each["kind"] in ("DaemonSet", "Deployment", "Job"):
            yield each["metadata"]["name"], each["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", MATRIX)
def test_every_object_is_valid_for_the_pinned_version(name: str) -> None:
    assert _of(name)
    for each in _of(name):
        kubernetes_validate.validate(each, "1.35", strict=True)


@pytest.mark.parametrize("name", MATRIX)
def test_no_pod_is_privileged_and_each_has_limits_and_a_pinned_image(name: str) -> None:
    for part, pod in _pods(_of(name)):
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, part
        assert not pod.get("hostPID")
        (container,) = pod["containers"]
        locked = container["securityContext"]
        assert locked["allowPrivilegeEscalation"] is False, part
        assert locked["readOnlyRootFilesystem"] is True, part
        assert locked["capabilities"]["drop"] == ["ALL"], part
        assert "privileged" not in locked
        assert {"cpu", "memory"} <= set(container["resources"]["limits"]), part
        assert "@sha256:" in container["image"] or part == "efa-device-plugin"


def test_only_device_plugins_and_the_job_of_the_folders_run_as_root() -> None:
    roots = {part for part, pod in _pods(_of("all")) if pod["securityContext"]["runAsUser"] == 0}
    assert roots == {"nvidia-device-plugin", "efa-device-plugin", f"{RELEASE}-fsx-folders"}
    # None of them in the namespace of the jobs, which refuses such pods.
    for each in _of("all"):
        if each["kind"] in ("DaemonSet", "Deployment", "Job"):
            assert each["metadata"]["namespace"] == "kube-system"


def test_the_namespace_refuses_pods_that_may_do_more_than_they_need() -> None:
    labels = _find(_of("all"), "Namespace", "kubeflow")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_volumes_lead_to_the_stacks_file_systems_and_stay() -> None:
    efs = _find(_of("all"), "PersistentVolume", "mask-rcnn-efs")
    assert efs["spec"]["csi"] == {
        "driver": "efs.csi.aws.com",
        "volumeHandle": "fs-0123456789abcdef0::fsap-0123456789abcdef0",
    }
    fsx = _find(_of("all"), "PersistentVolume", "mask-rcnn-fsx")
    assert fsx["spec"]["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": "fs-0123456789abcdef9",
        "volumeAttributes": {
            "dnsname": "fs-0123456789abcdef9.fsx.us-west-2.amazonaws.com",
            "mountname": "abcdefgh",
        },
    }
    for name in ("mask-rcnn-efs", "mask-rcnn-fsx"):
        for kind in ("PersistentVolume", "PersistentVolumeClaim"):
            found = _find(_of("all"), kind, name)
            assert found["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
        volume = _find(_of("all"), "PersistentVolume", name)["spec"]
        assert volume["persistentVolumeReclaimPolicy"] == "Retain"
        assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("kubeflow", name)


def test_a_mount_name_that_looks_like_a_number_stays_text() -> None:
    values = copy.deepcopy(MATRIX["all"])
    values["fsx"]["mountName"] = "5e234567"
    fsx = _find(tuple(_render(values)), "PersistentVolume", "mask-rcnn-fsx")
    assert fsx["spec"]["csi"]["volumeAttributes"]["mountname"] == "5e234567"


def test_without_lustre_or_efa_nothing_of_them_is_made() -> None:
    names = {each["metadata"]["name"] for each in _of("no-fsx-no-efa")}
    assert not names & {"efa-device-plugin", "mask-rcnn-fsx", f"{RELEASE}-fsx-folders"}


def test_folders_on_lustre_are_made_below_what_mirrors_the_bucket() -> None:
    job = _find(_of("all"), "Job", f"{RELEASE}-fsx-folders")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"][2:] == [
        "data/mask-rcnn/sagemaker/input",
        "data/mask-rcnn/sagemaker/input/train",
        "data/mask-rcnn/sagemaker/output",
    ]
    added = container["securityContext"]["capabilities"]["add"]
    assert set(added) <= {"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"}


def test_everything_is_denied_by_default_in_the_namespace_of_jobs() -> None:
    policy = _find(_of("all"), "NetworkPolicy", "deny-by-default")
    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_the_autoscaler_looks_after_this_cluster_alone_and_asks_no_public_address_in_vain() -> None:
    words = _find(_of("all"), "Deployment", "cluster-autoscaler")["spec"]["template"]["spec"]
    command = words["containers"][0]["command"]
    assert "k8s.io/cluster-autoscaler/mask-rcnn" in " ".join(command)
    assert "--aws-use-static-instance-list=true" in command
    with_internet = _find(_of("internet"), "Deployment", "cluster-autoscaler")
    there = with_internet["spec"]["template"]["spec"]["containers"][0]["command"]
    assert "--aws-use-static-instance-list=true" not in there
    for kind in ("ClusterRole", "Role"):
        for rule in _find(_of("all"), kind, "cluster-autoscaler")["rules"]:
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
            assert "secrets" not in rule["resources"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cluster.name", ""),
        ("cluster.region", "nowhere"),
        ("namespace", "kube-system"),
        ("efs.fileSystemId", "fs-"),
        ("efs.accessPointId", ""),
        ("fsx.dnsName", ""),
        ("fsx.folders", ["../up"]),
        ("images.autoscaler", "a.b/c:latest"),
        ("images.autoscaler", "a.b/c"),
        ("unknown", 1),
    ],
)
def test_wrong_values_are_refused_before_anything_is_made(path: str, value: object) -> None:
    values = copy.deepcopy(MATRIX["all"])
    *parents, last = path.split(".")
    place: Any = values
    for each in parents:
        place = place[each]
    place[last] = value
    with pytest.raises(UsageError):
        _render(values)
