"""What a training chart asks of Kubernetes and of the MPI Operator."""

from __future__ import annotations

import pytest

from tests.charts.matrix import IMAGE, LOG, TRAINING_VALUES
from tests.charts.rendering import (
    TRAINING,
    launcher,
    only,
    pod_templates,
    render,
    run,
    variables,
    worker,
)

TOLD = TRAINING_VALUES["told by the launcher"]


@pytest.mark.parametrize(("chart", "algorithm"), TRAINING.items())
def test_pods_get_the_variables_that_the_entry_point_reads(chart: str, algorithm: str) -> None:
    objects = render(chart, TOLD)

    expected = {
        "HOME": "/tmp",
        "TRAINING_JOB_NAME": "Mask-RCNN-fsx-2026",
        "MASK_RCNN_PLATFORM": "eks",
        "MASK_RCNN_ALGORITHM": algorithm,
        "MASK_RCNN_DISTRIBUTION": "mpi",
        "MASK_RCNN_PROCESSES_PER_HOST": "8",
        "MASK_RCNN_DATA": "/fsx/data/mask-rcnn/sagemaker/input/train",
        "MASK_RCNN_LOG": LOG,
        "MASK_RCNN_INSTANCE_TYPE": "p4d.24xlarge" if algorithm == "horovod" else "p3dn.24xlarge",
        "MASK_RCNN_WORKERS_WAIT_S": "1800",
        "MASK_RCNN_GRACE_S": "120",
    }
    assert variables(launcher(objects)) == expected
    of_worker = variables(worker(objects))
    assert expected.items() <= of_worker.items()
    assert of_worker["NCCL_DEBUG"] == "WARN"
    for pod in (launcher(objects), worker(objects)):
        assert {
            "name": "MASK_RCNN_POD_UID",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}},
        } in pod["containers"][0]["env"]


def test_kubernetes_replaces_nothing_in_what_a_user_said() -> None:
    """It reads $(NAME) as a variable's value, and $$ as one $
    (https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/)."""
    given = TOLD["job"]["environment"]["QUOTED"]

    rendered = variables(worker(render("maskrcnn", TOLD)))["QUOTED"]

    assert rendered == 'a "b" $$(HOME) $$$$ \\ é'
    assert rendered.replace("$$", "$") == given


def test_a_user_cannot_take_the_variables_of_the_contract() -> None:
    values = {"job": {"environment": {"MASK_RCNN_LOG": "/etc", "MASK_RCNN_POD_UID": "1"}}}
    environment = worker(render("maskrcnn", values))["containers"][0]["env"]

    named = {each["name"]: each.get("value") for each in environment}
    assert named["MASK_RCNN_LOG"].startswith("/fsx/maskrcnn-")
    assert named["MASK_RCNN_POD_UID"] is None
    assert len(named) == len(environment)


def test_what_the_launcher_said_stands_on_the_job() -> None:
    noted = only("MPIJob", render("maskrcnn-horovod", TOLD))["metadata"]["annotations"]

    assert noted == {
        "mask-rcnn/algorithm": "horovod",
        "mask-rcnn/data": "/fsx/data/mask-rcnn/sagemaker/input/train",
        "mask-rcnn/fingerprint": "0" * 64,
        "mask-rcnn/image": IMAGE,
        "mask-rcnn/instance-type": "p4d.24xlarge",
        "mask-rcnn/job": "Mask-RCNN-fsx-2026",
        "mask-rcnn/log": LOG,
        "mask-rcnn/nodes": "2",
        "mask-rcnn/tags": '{"cost center":"a: \\"b\\"","team":"vision"}',
    }


def test_a_job_that_the_launcher_describes_renders_the_same_each_time() -> None:
    command = ["template", "job", "charts/maskrcnn-horovod"]

    assert run(command, TOLD).stdout == run(command, TOLD).stdout != ""


@pytest.mark.parametrize("name", ["on", "n", "null", "e1"])
def test_a_release_may_have_a_name_that_yaml_takes_for_something_else(name: str) -> None:
    objects = render("maskrcnn", release=name)

    assert only("MPIJob", objects)["metadata"]["name"] == name
    labels = only("NetworkPolicy", objects)["spec"]["podSelector"]["matchLabels"]
    assert labels["app.kubernetes.io/instance"] == name


@pytest.mark.parametrize("chart", TRAINING)
def test_every_pod_can_be_found_by_its_release(chart: str) -> None:
    for _, template in pod_templates(render(chart, TOLD, release="a-release")):
        assert template["metadata"]["labels"] == {
            "app.kubernetes.io/name": chart,
            "app.kubernetes.io/instance": "a-release",
            "app.kubernetes.io/part-of": "mask-rcnn",
            "app.kubernetes.io/managed-by": "Helm",
        }


def test_the_operator_is_told_when_to_stop_and_to_start_again() -> None:
    spec = only("MPIJob", render("maskrcnn", TOLD))["spec"]

    assert spec["runPolicy"] == {
        "cleanPodPolicy": "Running",
        "backoffLimit": 3,
        "activeDeadlineSeconds": 401_800,
        "ttlSecondsAfterFinished": 0,
    }
    replicas = spec["mpiReplicaSpecs"]
    assert replicas["Launcher"]["restartPolicy"] == "Never"
    assert replicas["Worker"]["restartPolicy"] == "OnFailure"
    assert spec["launcherCreationPolicy"] == "AtStartup"
    assert spec["sshAuthMountPath"] == "/etc/mask-rcnn/ssh"
