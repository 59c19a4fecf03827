"""The commands of the old tutorial do what they did.

They stand in aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow@62bba96,
tutorials/maskrcnn-blog/README.md; the charts' folder is the only change.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from tests.charts.rendering import (
    TRAINING,
    documents,
    hyperparameters,
    launcher,
    only,
    render,
    run,
    variables,
    worker,
)
from training import algorithms

COMMANDS = {
    "helm install --debug maskrcnn ./charts/maskrcnn/": ("p3dn.24xlarge", "4096", "1"),
    "helm install --debug maskrcnn ./charts/maskrcnn --set maskrcnn.gpu_instance_type=p3.16xlarge "
    "--set maskrcnn.tf_device_min_sys_mem_mb=2560": ("p3.16xlarge", "2560", "1"),
    "helm install --debug maskrcnn-optimized ./charts/maskrcnn-optimized/": (
        "p3dn.24xlarge",
        "4096",
        "4",
    ),
    "helm install --debug maskrcnn-optimized ./charts/maskrcnn-optimized/ "
    "--set maskrcnn.gpu_instance_type=p3.16xlarge --set maskrcnn.tf_device_min_sys_mem_mb=2560 "
    "--set maskrcnn.batch_size_per_gpu=2": ("p3.16xlarge", "2560", "2"),
}
LOG = re.compile(r"/fsx/(maskrcnn|maskrcnn-optimized)-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_tutorial_renders_the_job_that_it_means(command: str) -> None:
    instance_type, spare_mib, batch_size = COMMANDS[command]
    arguments = shlex.split(command)[1:]
    release = arguments[2]

    done = run([*arguments, "--dry-run=client"])

    assert done.returncode == 0, done.stderr
    objects = documents(done.stdout.partition("MANIFEST:\n")[2].partition("\nNOTES:")[0])
    job = only("MPIJob", objects)
    assert job["metadata"]["name"] == release
    assert job["metadata"]["namespace"] == "kubeflow"
    assert job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 2
    assert job["spec"]["slotsPerWorker"] == 8
    pod = worker(objects)
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": instance_type}
    assert variables(pod)["TF_DEVICE_MIN_SYS_MEMORY_IN_MB"] == spare_mib
    assert f'"batch_size_per_gpu":"{batch_size}"' in str(only("ConfigMap", objects)["data"])


def test_the_log_folder_has_the_charts_name_and_is_one_everywhere() -> None:
    done = run(["install", "maskrcnn", "./charts/maskrcnn", "--dry-run=client"])
    objects = documents(done.stdout.partition("MANIFEST:\n")[2].partition("\nNOTES:")[0])

    folder = only("MPIJob", objects)["metadata"]["annotations"]["mask-rcnn/log"]

    assert LOG.fullmatch(folder)
    assert only("ConfigMap", objects)["metadata"]["annotations"]["mask-rcnn/log"] == folder
    assert variables(worker(objects))["MASK_RCNN_LOG"] == folder
    assert variables(launcher(objects))["MASK_RCNN_LOG"] == folder
    assert f"Logs:    {folder}, which stays" in done.stdout.partition("NOTES:")[2]


def test_the_notes_name_the_pods_that_the_operator_makes() -> None:
    done = run(["install", "maskrcnn", "./charts/maskrcnn", "--dry-run=client"])

    assert "kubectl logs -f -n kubeflow job/maskrcnn-launcher" in done.stdout.partition("NOTES:")[2]


@pytest.mark.parametrize("chart", [*TRAINING, "stage-data", "attach"])
def test_the_notes_tell_how_to_stop_and_remove_what_they_speak_of(chart: str) -> None:
    done = run(["install", "here", f"./charts/{chart}", "-n", "elsewhere", "--dry-run=client"])

    said = done.stdout.partition("NOTES:")[2]
    # A release is kept where -n says, whatever namespace its objects go to.
    assert "helm uninstall here -n elsewhere" in said
    if chart in TRAINING:
        assert "python -m training.jobs stop here --platform eks " in said


def test_the_old_name_of_nodes_still_works() -> None:
    done = run(["template", "job", "charts/maskrcnn", "--set", "maskrcnn.gpu_nodes=4"])

    assert (
        only("MPIJob", documents(done.stdout))["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 4
    )


# What stood in the values.yaml of the old charts; keys that are gone are refused one by one.
OLD_VALUES: dict[str, dict[str, Any]] = {
    "maskrcnn": {
        "gpus": 16,
        "gpu_nodes": 2,
        "gpus_per_node": 8,
        "gpu_instance_type": "p3dn.24xlarge",
        "image": None,
        "data_fs": "fsx",
        "data_dir": "mask-rcnn/eks/input/data",
        "lr_schedule": "[240000,320000,360000]",
        "base_lr": 0.01,
        "eval_period_in_epochs": 1,
        "data_train": '["coco_train2017"]',
        "data_val": '("coco_val2017")',
        "mode_fpn": "True",
        "mode_mask": "True",
        "backbone_norm": "FreezeBN",
        "image_pull_policy": "Always",
        "horovod_cycle_time": "0.5",
        "horovod_fusion_threshold": "67108864",
        "nccl_socket_ifname": "^lo,docker0",
        "tf_device_min_sys_mem_mb": 4096,
        "tf_enable_auto_mixed_precision": 0,
        "nccl_debug": "INFO",
        "nccl_buffsize": "4194304",
        "horovod_autotune": 1,
        "horovod_log_level": "INFO",
    },
    "maskrcnn-optimized": {
        "gpus": 16,
        "gpu_nodes": 2,
        "gpus_per_node": 8,
        "batch_size_per_gpu": 4,
        "images_per_epoch": 120000,
        "lr_epoch_schedule": "[(16, 0.1), (20, 0.01), (24, None)]",
        "base_lr": 0.0015625,
        "data_train": '["train2017"]',
        "data_val": '("val2017")',
        "extra_config": "TRAIN.GRADIENT_CLIP=0.36",
    },
}
OLD_GLOBAL = {"namespace": "kubeflow", "shared_fs": "fsx", "shared_pvc": "pv-fsx"}


@pytest.mark.parametrize("chart", OLD_VALUES)
def test_the_values_of_an_old_chart_mean_what_they_meant(chart: str) -> None:
    values = {"global": {**OLD_GLOBAL, "source_cidr": None}, "maskrcnn": OLD_VALUES[chart]}
    model = algorithms.load(TRAINING[chart]).HYPERPARAMETERS

    objects = render(chart, values)

    given = model.model_validate(hyperparameters(objects))
    rate = OLD_VALUES[chart]["base_lr"]
    configured = {"config:TRAIN.BASE_LR": str(rate)}
    if chart == "maskrcnn-optimized":
        configured["config:TRAIN.GRADIENT_CLIP"] = "0.36"
    assert given == model.model_validate(configured)
    if chart == "maskrcnn":
        told = variables(worker(objects))
        assert told["MASK_RCNN_DATA"] == "/fsx/mask-rcnn/eks/input/data"
        assert told["TF_ENABLE_CUDNN_TENSOR_OP_MATH_FP32"] == "0"
        assert told["NCCL_SOCKET_IFNAME"] == "^lo,docker0"
        assert (told["NCCL_BUFFSIZE"], told["HOROVOD_AUTOTUNE"]) == ("4194304", "1")


def test_lists_and_truth_values_of_the_command_line_are_read() -> None:
    objects = render(
        "maskrcnn",
        None,
        "maskrcnn.mode_mask=False",
        "maskrcnn.lr_schedule={1000,2000}",
        "maskrcnn.extra_config=TEST.RESULTS_PER_IM=50",
    )

    model = algorithms.load("tensorpack").HYPERPARAMETERS
    assert model.model_validate(hyperparameters(objects)) == model.model_validate(
        {"mode_mask": False, "lr_schedule": [1000, 2000], "config:TEST.RESULTS_PER_IM": "50"}
    )
