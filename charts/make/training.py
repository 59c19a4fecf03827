"""The values of the charts that train."""

from __future__ import annotations

from dataclasses import dataclass

from . import hyperparameters, shared, variables
from .key import Group, Key, one_of, optional, text, whole
from .running import GANG, LAUNCHER, RESOURCES, job
from .tables import types_of

FILE_SYSTEMS = ("fsx", "efs")


@dataclass(frozen=True, kw_only=True)
class TrainingChart:
    """What makes one chart differ from the others."""

    name: str
    algorithm: str
    instance_type: str
    tensorflow: bool
    elastic: bool
    title: str


CHARTS = (
    TrainingChart(
        name="maskrcnn",
        algorithm="tensorpack",
        instance_type="p3dn.24xlarge",
        tensorflow=True,
        elastic=False,
        title="TensorPack's Mask R-CNN on TensorFlow and Horovod",
    ),
    TrainingChart(
        name="maskrcnn-optimized",
        algorithm="aws-samples",
        instance_type="p3dn.24xlarge",
        tensorflow=True,
        elastic=False,
        title="AWS's optimized Mask R-CNN on TensorFlow 1 and Horovod",
    ),
    TrainingChart(
        name="maskrcnn-horovod",
        algorithm="horovod",
        instance_type="p4d.24xlarge",
        tensorflow=False,
        elastic=True,
        title="The first-party trainer: PyTorch, torchvision's Mask R-CNN, Horovod",
    ),
)


def groups(chart: TrainingChart) -> tuple[Group, ...]:
    return (
        _GLOBAL,
        Group(
            name="maskrcnn",
            about="What to train, and on what.",
            keys=(
                *_machine_keys(chart),
                *_DATA_KEYS,
                *hyperparameters.keys_of(chart.algorithm),
                *(_BASE_LR if chart.tensorflow else ()),
                _EXTRA_CONFIG,
                *variables.keys_of(tensorflow=chart.tensorflow),
            ),
            gone=GONE,
        ),
        job(elastic=chart.elastic),
        Group(name="", about="", keys=(shared.SERVICE_ACCOUNT,)),
        RESOURCES,
        LAUNCHER,
        GANG,
        shared.POLICY,
    )


_GLOBAL = Group(
    name="global",
    about="What the charts of a release share.",
    keys=(
        shared.NAMESPACE,
        Key(
            name="shared_fs",
            default="fsx",
            rule=one_of(*FILE_SYSTEMS),
            about="The file system of logs and checkpoints, mounted at /fsx or /efs.",
            old="the same",
        ),
        Key(
            name="shared_pvc",
            default=None,
            rule=optional(text(shared.NAMES)),
            about="Its claim; null: mask-rcnn-fsx or mask-rcnn-efs, as charts/cluster has them.",
            old="the same (pv-fsx)",
        ),
        Key(
            name="source_cidr",
            default=None,
            rule=optional(text()),
            about="Of the test charts; without meaning here.",
            old="the same",
            written=False,
        ),
        Key(
            name="log_dir",
            default=None,
            rule=optional(text()),
            about="Of the test charts; without meaning here.",
            old="the same",
            written=False,
        ),
    ),
)


def _machine_keys(chart: TrainingChart) -> tuple[Key, ...]:
    return (
        Key(
            name="image",
            default=None,
            rule=optional(text(shared.IMAGE)),
            about="The image, with tag or digest; null: the newest that was pushed before "
            "`python -m training.kubernetes install`.",
            old="the same",
        ),
        shared.PULL_POLICY,
        Key(
            name="gpu_instance_type",
            default=chart.instance_type,
            rule=one_of(*types_of(chart.algorithm)),
            about="The nodes' instance type.",
            old="the same",
        ),
        Key(
            name="nodes",
            default=None,
            rule=optional(whole(1, 1000)),
            about="How many nodes train; null: 2.",
            old="gpu_nodes, which still works",
        ),
        Key(
            name="gpu_nodes",
            default=None,
            rule=optional(whole(1, 1000)),
            about="The old name of `nodes`.",
            old="the same",
            written=False,
        ),
        Key(
            name="gpus_per_node",
            default=None,
            rule=optional(whole(1, 64)),
            about="GPUs of each node; null: all that the type has. With fewer a pod also asks for "
            "less of the rest.",
            old="the same (8)",
        ),
        Key(
            name="gpus",
            default=None,
            rule=optional(whole(1)),
            about="GPUs of all nodes; null: nodes x gpus_per_node, and it may be no other number.",
            old="the same (16)",
        ),
    )


_DATA_KEYS = (
    Key(
        name="data_fs",
        default=None,
        rule=optional(one_of(*FILE_SYSTEMS)),
        about="The file system of the data; null: shared_fs.",
        old="the same",
    ),
    Key(
        name="data_dir",
        default=None,
        rule=optional(text(r"^[A-Za-z0-9._+@=-]+(/[A-Za-z0-9._+@=-]+)*$")),
        about="The data set below its root; null: mask-rcnn/sagemaker/input/train, on FSx below "
        "data/, as StorageStack and `training.data stage` have it.",
        old="the same (mask-rcnn/eks/input/data)",
    ),
)

_BASE_LR = (
    Key(
        name="base_lr",
        default=None,
        rule=optional({"type": "number", "exclusiveMinimum": 0}),
        about="TRAIN.BASE_LR of the implementation; null: its own (tensorpack 0.01 for 8 pictures, "
        "aws-samples 0.00125 for one).",
        old="the same (0.01; 0.0015625)",
    ),
)

_EXTRA_CONFIG = Key(
    name="extra_config",
    default="",
    rule={"type": ["string", "array"], "items": {"type": "string", "minLength": 3}},
    about="KEY=VALUE of TensorPack's configuration, or a list of such.",
    old="the same",
)

GONE = {
    "name": "the job is named as the release",
    "train_script": "the image knows its program",
    "working_dir": "the image knows its program",
    "steps_per_epoch": "give images_per_epoch: steps times GPUs times batch_size_per_gpu",
    "if_exclude": "the network interface is found; nccl_socket_ifname is NCCL's",
    "backoff_limit": "the launcher waits for its workers; job.retries is how often to go on from "
    "the last checkpoint after a failure",
}
