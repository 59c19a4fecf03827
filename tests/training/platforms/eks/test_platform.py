"""Plans for the EKS cluster: what is sent, and what it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.training.platforms.eks.planning import IMAGE, by_kind, objects, outputs, plan, request
from tests.training.platforms.sagemaker.planning import ACCOUNT, launch
from training.kubernetes.helm import template
from training.platforms.eks.charts import FOLDER


def worker(found: Any) -> dict[str, Any]:
    """Return the specification of the worker pods."""
    template = objects(found)["MPIJob"]["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
    spec: dict[str, Any] = template["spec"]
    return spec


def variables(spec: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in spec["containers"][0]["env"]}


def test_a_request_is_one_release_of_the_algorithms_chart_with_all_its_objects() -> None:
    found = request(name="job-1")
    shown = found.to_json()
    assert list(shown) == ["release", "namespace", "chart", "values", "manifest"]
    assert (shown["release"], shown["namespace"]) == ("job-1", "kubeflow")
    assert shown["chart"] == "maskrcnn-horovod"
    assert shown["manifest"] == found.manifest
    assert set(objects(found)) == {"NetworkPolicy", "ConfigMap", "MPIJob"}
    job = objects(found)["MPIJob"]
    assert (job["metadata"]["name"], job["metadata"]["namespace"]) == ("job-1", "kubeflow")
    assert job["metadata"]["annotations"]["mask-rcnn/fingerprint"] == found.fingerprint
    assert job["metadata"]["annotations"]["mask-rcnn/log"].endswith("/log-job-1")


@pytest.mark.parametrize(
    ("algorithm", "kind", "chart"),
    [
        ("horovod", "p4d.24xlarge", "maskrcnn-horovod"),
        ("tensorpack", "p3.16xlarge", "maskrcnn"),
        ("aws-samples", "p3dn.24xlarge", "maskrcnn-optimized"),
    ],
)
def test_each_algorithm_has_its_chart_and_the_nodes_their_type(
    algorithm: str, kind: str, chart: str
) -> None:
    found = request(algorithm=algorithm, stacks=outputs(GpuInstanceType=kind))
    assert found.chart == chart
    assert (FOLDER / chart / "Chart.yaml").is_file()
    spec = worker(found)
    assert spec["nodeSelector"] == {"node.kubernetes.io/instance-type": kind}
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 8
    assert variables(spec)["MASK_RCNN_ALGORITHM"] == algorithm


@pytest.mark.parametrize(
    ("source", "data", "claims"),
    [
        ("s3", "/scratch/data", {"mask-rcnn-efs"}),
        ("efs", "/efs/mask-rcnn/sagemaker/input/train", {"mask-rcnn-efs"}),
        (
            "fsx",
            "/fsx/data/mask-rcnn/sagemaker/input/train",
            {"mask-rcnn-efs", "mask-rcnn-fsx"},
        ),
    ],
)
def test_data_is_read_where_pods_have_it_and_logs_go_to_efs(
    source: str, data: str, claims: set[str]
) -> None:
    spec = worker(request(name="job-1", data_source=source))
    told = variables(spec)
    assert told["MASK_RCNN_DATA"] == data
    assert told["MASK_RCNN_LOG"] == "/efs/mask-rcnn/sagemaker/output/log-job-1"
    mounted = {
        each["persistentVolumeClaim"]["claimName"]
        for each in spec["volumes"]
        if "persistentVolumeClaim" in each
    }
    assert mounted == claims


def test_data_from_s3_is_copied_by_an_image_with_our_programs() -> None:
    found = request(
        algorithm="tensorpack", image=None, stacks=outputs(GpuInstanceType="p3.16xlarge")
    )
    (copier,) = worker(found)["initContainers"]
    registry = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn"
    assert copier["image"].startswith(f"{registry}/horovod:")
    told = {each["name"]: each.get("value") for each in copier["env"]}
    # Pods reach no instance metadata, which would tell the region.
    assert (told["AWS_REGION"], told["AWS_DEFAULT_REGION"]) == ("us-west-2", "us-west-2")
    assert copier["args"][2] == "s3://bucket/mask-rcnn/sagemaker/input/train"
    assert found.image.startswith(f"{registry}/tensorpack:")


def test_hyperparameters_are_the_texts_that_sagemaker_would_pass() -> None:
    chosen = {"lr_epoch_schedule": [[2, 0.1], [3, None]], "seed": 7}
    found = request(hyperparameters=chosen)
    sent = json.loads(objects(found)["ConfigMap"]["data"]["hyperparameters.json"])
    assert sent == found.values["job"]["hyperparameters"]
    assert sent["lr_epoch_schedule"] == "[(2, 0.1), (3, None)]"
    assert (sent["seed"], sent["batch_norm"]) == ("7", "FreezeBN")


@pytest.mark.parametrize(
    ("overrides", "distribution", "least"),
    [
        ({}, "elastic", "1"),
        ({"eks__least_nodes": 2}, "elastic", "2"),
        ({"eks__distribution": "mpi"}, "mpi", None),
        (
            {"algorithm": "tensorpack", "stacks": outputs(GpuInstanceType="p3.16xlarge")},
            "mpi",
            None,
        ),
    ],
)
def test_ours_is_elastic_by_default_and_the_others_need_all_nodes(
    overrides: dict[str, Any], distribution: str, least: str | None
) -> None:
    told = variables(worker(request(**overrides)))
    assert told["MASK_RCNN_DISTRIBUTION"] == distribution
    assert told.get("MASK_RCNN_LEAST_HOSTS") == least


def test_a_job_without_a_count_takes_the_algorithms_or_all_that_the_cluster_may_have() -> None:
    assert request(instances__count=None).on.workers == 4
    assert request(instances__count=None, stacks=outputs(MostGpuNodes="3")).on.workers == 3


def test_limits_retries_and_processes_reach_the_mpijob() -> None:
    found = plan(
        limits__max_run_s=3600,
        retries=3,
        instances__processes_per_instance=4,
        eks__workers_wait_s=600,
    )
    job = objects(found.request)["MPIJob"]  # type: ignore[arg-type]
    assert job["spec"]["slotsPerWorker"] == 4
    policy = job["spec"]["runPolicy"]
    assert (policy["activeDeadlineSeconds"], policy["backoffLimit"]) == (3600 + 600, 3)
    assert variables(worker(found.request))["MASK_RCNN_WORKERS_WAIT_S"] == "600"
    assert found.learning_rates is not None
    assert found.learning_rates.global_batch_size == 2 * 4 * 4


@pytest.mark.parametrize(
    ("algorithm", "kind", "environment", "spare_mib"),
    [
        ("tensorpack", "p3.16xlarge", {}, "2560"),
        ("aws-samples", "p3.16xlarge", {}, "2560"),
        ("tensorpack", "p3dn.24xlarge", {}, "4096"),
        ("tensorpack", "p3.16xlarge", {"TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "3000"}, "3000"),
        ("tensorpack", "p3.16xlarge", {"TF_DEVICE_MIN_SYS_MEMORY_IN_MB": ""}, ""),
        ("horovod", "g4dn.12xlarge", {}, None),
    ],
)
def test_what_tensorflow_leaves_of_a_gpu_goes_by_its_memory_or_is_what_the_job_says(
    algorithm: str, kind: str, environment: dict[str, str], spare_mib: str | None
) -> None:
    found = request(
        algorithm=algorithm, environment=environment, stacks=outputs(GpuInstanceType=kind)
    )
    assert variables(worker(found)).get("TF_DEVICE_MIN_SYS_MEMORY_IN_MB") == spare_mib
    shown = dict(found.summary()).get("gpu memory")
    if kind == "p3.16xlarge":
        assert shown is not None
        assert shown.startswith(f"{spare_mib} MiB of each GPU")


def test_an_empty_text_of_the_user_s_is_sent_as_the_plan_shows_it() -> None:
    found = request(environment={"X": "", "NCCL_DEBUG": ""})
    assert found.to_json()["values"]["job"]["environment"]["X"] == ""
    (container,) = worker(found)["containers"]
    told = {each["name"]: each.get("value") for each in container["env"]}
    assert (told["X"], told["NCCL_DEBUG"]) == ("", "")


def test_an_empty_text_given_to_a_chart_wins_over_the_key_of_the_chart() -> None:
    job = {
        "hyperparameters": {"config:FPN.NORM": "", "batch_norm": ""},
        "environment": {"TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "", "HOME": "/x"},
    }
    made = by_kind(template("job-1", FOLDER / "maskrcnn", {"job": job}, namespace="kubeflow"))
    told = json.loads(made["ConfigMap"]["data"]["hyperparameters.json"])
    assert (told["config:FPN.NORM"], told["batch_norm"]) == ("", "")
    pods = made["MPIJob"]["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    named = variables(pods)
    assert (named["TF_DEVICE_MIN_SYS_MEMORY_IN_MB"], named["HOME"]) == ("", "/tmp")


def test_without_efa_no_pod_asks_for_it() -> None:
    with_efa = worker(request())["containers"][0]["resources"]["limits"]
    without = worker(request(stacks=outputs(Efa="false")))["containers"][0]["resources"]["limits"]
    assert with_efa["vpc.amazonaws.com/efa"] == 4
    assert "vpc.amazonaws.com/efa" not in without


def test_the_same_launch_is_the_same_request_and_another_job_has_another_fingerprint() -> None:
    assert request(name="job-1") == request(name="job-1", launched=launch())
    ours = request(name="job-1").fingerprint
    assert request(name="job-2").fingerprint != ours
    assert request(name="job-1", retries=1).fingerprint != ours


def test_a_job_that_goes_on_keeps_name_and_folder_and_is_another_request_each_time() -> None:
    first = launch(resume=True)
    again = replace(first, now=first.now + timedelta(minutes=1))
    one, other = request(name="job-1", launched=first), request(name="job-1", launched=again)
    assert (one.job_name, one.places.log) == (other.job_name, other.places.log)
    assert one.places.log == request(name="job-1").places.log
    assert one.fingerprint != other.fingerprint
    assert request(name="job-1", launched=first).fingerprint == one.fingerprint


def test_values_of_secrets_are_sent_and_not_shown() -> None:
    found = request(environment={"API_TOKEN": "hush-hush", "LEVEL": "debug"})
    assert variables(worker(found))["API_TOKEN"] == "hush-hush"
    shown = found.to_json()
    assert "hush-hush" not in str(shown)
    assert shown["values"]["job"]["environment"] == {
        "AWS_REGION": "us-west-2",
        "AWS_DEFAULT_REGION": "us-west-2",
        "API_TOKEN": "***",
        "LEVEL": "debug",
    }
    job = by_kind(shown["manifest"])["MPIJob"]
    spec = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert variables(spec)["API_TOKEN"] == "***"
    assert variables(spec)["LEVEL"] == "debug"


@pytest.mark.parametrize(
    "value",
    [
        "$(HOME)",
        "$$",
        "a\tb\nc\r",
        "\x01\x1b",
        "é 😀 \ufeff",
        "'\"\\",
        " x ",
        "{{ .Values }}",
        "#-",
    ],
)
def test_whatever_a_user_types_arrives_as_it_was_typed(value: str) -> None:
    told = variables(worker(request(environment={"VALUE": value})))["VALUE"]
    # Kubernetes puts the value of a variable in the place of $(NAME), and a $ in that of $$.
    assert told.replace("$$", "$") == value
    assert "$(" not in told.replace("$$", "")


def test_a_thousand_nodes_take_no_longer_and_no_more_room() -> None:
    stacks = outputs(MostGpuNodes="1000")
    few = request(instances__count=1, stacks=stacks)
    many = request(instances__count=1000, stacks=stacks)
    assert many.on.world_size == 8000
    assert len(many.manifest) - len(few.manifest) < 20


def test_a_plan_imports_neither_boto3_nor_kubernetes() -> None:
    code = (
        "import sys; import tests.training.platforms.eks.planning as p; p.request(name='job-1');"
        "print([n for n in ('boto3', 'botocore', 'kubernetes', 'sagemaker', 'torch') "
        "if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_summary_says_where_on_what_from_what_and_where_logs_go() -> None:
    said = dict(request(name="job-1", data_source="fsx").summary())
    assert said == {
        "where": f"account {ACCOUNT}, us-west-2, EKS mask-rcnn",
        "machines": "2 x p4d.24xlarge = 16 GPUs: 16 processes; the launcher, on a system node, "
        "trains nothing",
        "data": "FSx for Lustre fs-0123456789abcdef9, /fsx/data/mask-rcnn/sagemaker/input/train",
        "log": "EFS fs-0123456789abcdef0, /efs/mask-rcnn/sagemaker/output/log-job-1",
    }


def test_the_values_of_a_plan_are_all_that_its_chart_is_given() -> None:
    found = request(name="job-1")
    assert found.values["maskrcnn"]["image"] == IMAGE
    assert found.values["job"]["tags"] == {"Project": "mask-rcnn", "Job": "job-1"}
    assert found.values["serviceAccount"] == "mask-rcnn"
