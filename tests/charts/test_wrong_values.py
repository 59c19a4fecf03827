"""Wrong values are refused before anything is created, by name and with what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.charts.rendering import TRAINING, refusal

REFUSED: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("maskrcnn", {"maskrcnn": {"nodes": 0}}, ("/maskrcnn/nodes", "minimum: got 0, want 1")),
    ("maskrcnn", {"maskrcnn": {"nodes": 1.5}}, ("/maskrcnn/nodes", "got number, want")),
    (
        "maskrcnn",
        {"maskrcnn": {"gpu_instance_type": "p9.48xlarge"}},
        ("/maskrcnn/gpu_instance_type", "'p3dn.24xlarge'"),
    ),
    # An image of CUDA 10 finds no code for an A100.
    (
        "maskrcnn-optimized",
        {"maskrcnn": {"gpu_instance_type": "p4d.24xlarge"}},
        ("/maskrcnn/gpu_instance_type", "'p3.16xlarge'"),
    ),
    # Without GPU, or by SageMaker's name.
    ("maskrcnn-horovod", {"maskrcnn": {"gpu_instance_type": "m6i.xlarge"}}, ("gpu_instance_type",)),
    (
        "maskrcnn-horovod",
        {"maskrcnn": {"gpu_instance_type": "ml.p4d.24xlarge"}},
        ("gpu_instance_type",),
    ),
    ("maskrcnn", {"maskrcnn": {"batch_size_per_gpu": 4}}, ("/maskrcnn/batch_size_per_gpu",)),
    (
        "maskrcnn-optimized",
        {"maskrcnn": {"batch_size_per_gpu": 5}},
        ("/maskrcnn/batch_size_per_gpu", "maximum: got 5, want 4"),
    ),
    ("maskrcnn", {"maskrcnn": {"gpu_type": "p3"}}, ("additional properties 'gpu_type' not",)),
    ("maskrcnn", {"node": 2}, ("additional properties 'node' not allowed",)),
    ("maskrcnn", {"job": {"log_dir": "/fsx/x"}}, ("additional properties 'log_dir' not allowed",)),
    ("maskrcnn", {"global": {"shared_fs": "nfs"}}, ("/global/shared_fs", "'fsx', 'efs'")),
    ("maskrcnn", {"maskrcnn": {"image": "repository"}}, ("/maskrcnn/image",)),
    ("maskrcnn", {"job": {"distribution": "elastic"}}, ("/job/distribution", "'mpi'")),
    ("maskrcnn", {"job": {"hyperparameters": {"a": True}}}, ("/job/hyperparameters/a", "number")),
    # Read from a file, it has become another number.
    ("maskrcnn", {"job": {"environment": {"A": 2**53 + 2}}}, ("/job/environment/A", "maximum")),
    ("maskrcnn", {"job": {"environment": {"A-B": ""}}}, ("/job/environment",)),
    ("attach", {"resources": {"cpu": "4Gi"}}, ("/resources/cpu",)),
    ("attach", {"resources": {"cpu": 0}}, ("/resources/cpu", "minimum")),
    ("attach", {"resources": {"memory": "4m"}}, ("/resources/memory",)),
    ("attach", {"resources": {"memory": 4}}, ("/resources/memory", "want string")),
    # What only all of them together say.
    (
        "maskrcnn",
        {"maskrcnn": {"nodes": 2, "gpu_nodes": 3}},
        ("maskrcnn.nodes: 2, but maskrcnn.gpu_nodes, its old name, is 3",),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"gpus": 32}},
        ("maskrcnn.gpus: 32: 2 node(s) of 8 GPU(s) have 16", "maskrcnn.nodes"),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"gpus_per_node": 9}},
        ("maskrcnn.gpus_per_node: 9: p3dn.24xlarge has 8",),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"nodes": 3, "gpus_per_node": 4}},
        ("12", "trains on 1, 2, 4 or a multiple of 8"),
    ),
    (
        "maskrcnn-horovod",
        {"resources": {"efa": 5}},
        ("resources.efa: 5: 8 GPU(s) of a p4d.24xlarge come with 4",),
    ),
    (
        "maskrcnn-horovod",
        {"job": {"processes_per_node": 9}},
        ("job.processes_per_node: 9", "a worker has 8: give 8 or fewer"),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"gpus_per_node": 4}, "job": {"processes_per_node": 8}},
        ("job.processes_per_node: 8", "a worker has 4"),
    ),
    (
        "maskrcnn-horovod",
        {"job": {"distribution": "elastic", "least_nodes": 3}},
        ("job.least_nodes: 3: the job has 2 node(s)", "give 2 or fewer"),
    ),
    (
        "maskrcnn-horovod",
        {"job": {"least_nodes": 2}},
        ("job.least_nodes: 2: only job.distribution elastic",),
    ),
    (
        "maskrcnn",
        {"resources": {"cpu": 96}},
        ("resources.cpu: 96: the pod would ask for 96 core(s), and a p3dn.24xlarge has 96",),
    ),
    (
        "maskrcnn",
        {"resources": {"memory": "0.75Ti"}},
        ("/resources/memory",),
    ),
    (
        "maskrcnn",
        {"resources": {"memory": "768Gi"}},
        ("resources.memory: 768Gi: the pod would ask for 786432 MiB", "p3dn.24xlarge has 786432"),
    ),
    ("maskrcnn", {"job": {"log": "/efs/log"}}, ("job.log: /efs/log", "below /fsx")),
    ("maskrcnn", {"job": {"log": "/fsx/a/../../etc"}}, ("job.log: /fsx/a/../../etc",)),
    ("maskrcnn", {"job": {"data": "/data"}}, ("job.data: /data: expected a folder below /fsx",)),
    ("maskrcnn", {"maskrcnn": {"data_dir": "../x"}}, ("maskrcnn.data_dir: /fsx/../x",)),
    (
        "maskrcnn",
        {"job": {"s3": {"source": "s3://bucket/train"}}},
        ("job.s3.image: the image of tensorpack cannot copy from S3",),
    ),
    (
        "maskrcnn-horovod",
        {"job": {"s3": {"source": "s3://bucket/train"}, "data": "/fsx/train"}},
        ("job.data: /fsx/train: with job.s3.source the data comes to /scratch/data",),
    ),
    (
        "maskrcnn-horovod",
        {"maskrcnn": {"lr_schedule": "[1]", "lr_epoch_schedule": "[(1, None)]"}},
        ("maskrcnn.lr_schedule and maskrcnn.lr_epoch_schedule: give one of them",),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"resnet_arch": "resnet101"}},
        ("ImageNet-R50-AlignPadding.npz is for resnet50",),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"backbone_weights": "data/pretrained-models/ImageNet-R50.npz"}},
        ("give the file's name in pretrained-models",),
    ),
    # Keys of the old charts that mean nothing now.
    (
        "maskrcnn",
        {"maskrcnn": {"steps_per_epoch": 7500}},
        ("maskrcnn.steps_per_epoch: there is no such key any more: give images_per_epoch",),
    ),
    ("maskrcnn", {"maskrcnn": {"backoff_limit": 2000}}, ("job.retries",)),
    (
        "maskrcnn",
        {"maskrcnn": {"extra_config": "TRAIN.CHECKPOINT_PERIOD=2"}},
        ("maskrcnn.extra_config: TRAIN.CHECKPOINT_PERIOD: use maskrcnn.checkpoint_period",),
    ),
    (
        "maskrcnn",
        {"maskrcnn": {"extra_config": ["TRAIN.NO_SUCH=1"]}},
        ("maskrcnn.extra_config: TRAIN.NO_SUCH: the implementation has no such key",),
    ),
    ("maskrcnn", {"maskrcnn": {"extra_config": "rm -rf /"}}, ("expected KEY=VALUE",)),
    ("stage-data", {"volumes": {"efs": False, "fsx": False}}, ("neither efs nor fsx",)),
    ("stage-data", {"args": []}, ("/args", "minItems")),
    ("stage-data", {"user": 0}, ("/user", "minimum")),
    ("attach", {"volumes": {"efs": False, "fsx": False}}, ("neither efs nor fsx",)),
    ("attach", {"hours": 0}, ("/hours", "minimum")),
]


@pytest.mark.parametrize(
    ("chart", "values", "said"), REFUSED, ids=[f"{row[0]} {row[1]}" for row in REFUSED]
)
def test_a_wrong_value_is_refused(
    chart: str, values: dict[str, Any], said: tuple[str, ...]
) -> None:
    message = refusal(chart, values)

    assert [part for part in said if part not in message] == [], message


@pytest.mark.parametrize("chart", TRAINING)
@pytest.mark.parametrize("release", ["4th-job", "a" * 53])
def test_a_release_whose_pods_could_have_no_name_is_refused(chart: str, release: str) -> None:
    message = refusal(chart, {"maskrcnn": {"nodes": 1000}, "job": {}}, release=release)

    assert f"release {release}: its pods would be {release}-worker-999" in message
