"""Values that together take every branch of every template."""

from __future__ import annotations

from typing import Any

from charts.make.tables import types_of
from tests.charts.rendering import TRAINING

IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/any:0123456789ab"
LOG = "/fsx/mask-rcnn/sagemaker/output/log-2026-11-29"

_TOLD: dict[str, Any] = {
    "maskrcnn": {"image": IMAGE},
    "job": {
        "name": "Mask-RCNN-fsx-2026",
        "log": LOG,
        "environment": {"NCCL_DEBUG": "WARN", "QUOTED": 'a "b" $(HOME) $$ \\ é'},
        "tags": {"cost center": 'a: "b"', "team": "vision"},
        "fingerprint": "0" * 64,
        "retries": 3,
        "ttl_s": 0,
    },
}

_S3 = {"source": "s3://a-bucket/mask-rcnn/sagemaker/input/train", "image": IMAGE}

TRAINING_VALUES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "told by the launcher": _TOLD,
    "on EFS": {"global": {"shared_fs": "efs"}, "maskrcnn": {"image": IMAGE}},
    "data elsewhere": {"global": {"shared_fs": "efs"}, "maskrcnn": {"data_fs": "fsx"}},
    "data on S3": {"job": {"s3": _S3}},
    "part of a node": {"maskrcnn": {"nodes": 2, "gpus_per_node": 4}},
    "no EFA": {"resources": {"efa": 0}},
    "own resources": {"resources": {"cpu": "8", "memory": "60Gi", "shm": "8Gi"}},
    "volcano": {"gang": {"scheduler": "volcano", "queue": "gpu"}},
    "scheduler-plugins": {"gang": {"scheduler": "scheduler-plugins", "timeout_s": 600}},
    "closed": {"network_policy": {"https": False}},
    "without policy": {"network_policy": {"enabled": False}},
}

HELPER_VALUES: dict[str, dict[str, dict[str, Any]]] = {
    "stage-data": {
        "defaults": {},
        "told by the launcher": {
            "image": IMAGE,
            "args": ["stage", "--to", "fsx", "--path", "a b $(HOME)"],
            "job": {
                "name": "stage-1",
                "hyperparameters": {"outputs": '{"StorageStack": {}}', "mounts": "{}"},
                "environment": {"AWS_REGION": "us-west-2"},
                "tags": {"a": "b"},
                "retries": 2,
                "ttl_s": 60,
            },
        },
        "EFS only": {"volumes": {"fsx": False}},
    },
    "attach": {"defaults": {}, "EFS only": {"volumes": {"fsx": False}, "hours": 1}},
}


def rows() -> list[tuple[str, str, dict[str, Any]]]:
    """Return chart, name of the row, and values."""
    return [
        *((chart, name, values) for chart in TRAINING for name, values in TRAINING_VALUES.items()),
        ("maskrcnn-horovod", "elastic", {"job": {"distribution": "elastic", "least_nodes": 2}}),
        *(
            (chart, name, values)
            for chart, all_values in HELPER_VALUES.items()
            for name, values in all_values.items()
        ),
    ]


def type_rows() -> list[tuple[str, str]]:
    """Return each chart with each instance type that it takes."""
    return [(chart, name) for chart, algorithm in TRAINING.items() for name in types_of(algorithm)]
