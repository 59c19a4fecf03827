"""Has the SDK of the original notebook launch its job, and writes what it would send.

Run by tests/training/platforms/sagemaker/test_original.py in an environment of its own (see
original.txt). The values are those of
https://github.com/aws/amazon-sagemaker-examples/blob/6e42d8276277a6e875e541ce2b97560638a13613/advanced_functionality/distributed_tensorflow_mask_rcnn/mask-rcnn-efs.ipynb
with names and ids of the tests' stacks where the notebook leaves them to its reader. Nothing is
sent anywhere.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

TIME = "2026-01-02-03-04-05"
"""In place of `int(time.time())`."""

METRICS = [
    *(f"fastrcnn_losses/{name}" for name in ("box_loss", "label_loss")),
    *(
        f"fastrcnn_losses/label_metrics/{name}"
        for name in ("accuracy", "false_negative", "fg_accuracy")
    ),
    "fastrcnn_losses/num_fg_label",
    *(
        f"maskrcnn_loss/{name}"
        for name in ("accuracy", "fg_pixel_ratio", "maskrcnn_loss", "pos_accuracy")
    ),
    *(
        f"mAP({kind})/{name}"
        for kind in ("bbox", "segm")
        for name in ("IoU=0.5", "IoU=0.5:0.95", "IoU=0.75", "large", "medium", "small")
    ),
]


def regex(name: str) -> str:
    """Return the notebook's regex of a metric: its name, and the word after it."""
    escaped = name.replace("(", r"\(").replace(")", r"\)").replace(".", r"\.")
    return rf".*{escaped}:\s*(\S+).*"


def capture() -> dict[str, Any]:
    import boto3
    import sagemaker
    from sagemaker.estimator import Estimator
    from sagemaker.inputs import FileSystemInput

    boto = boto3.Session(
        region_name="us-west-2", aws_access_key_id="none", aws_secret_access_key="none"
    )
    client = boto.client("sagemaker")
    sent: list[dict[str, Any]] = []
    client.create_training_job = lambda **body: sent.append(body)

    def channel(path: str, mode: str) -> Any:
        return FileSystemInput(
            file_system_id="fs-0123456789abcdef0",
            file_system_type="EFS",
            directory_path=path,
            file_system_access_mode=mode,
        )

    estimator = Estimator(
        image_uri="123456789012.dkr.ecr.us-west-2.amazonaws.com/"
        "mask-rcnn-tensorpack-sagemaker:tf1.15-tpdb541e8",
        role="arn:aws:iam::123456789012:role/training",
        instance_count=4,
        instance_type="ml.p3.16xlarge",
        volume_size=100,
        max_run=400000,
        output_path="s3://bucket/mask-rcnn/sagemaker/output",
        sagemaker_session=sagemaker.Session(
            boto_session=boto, sagemaker_client=client, default_bucket="bucket"
        ),
        hyperparameters={
            "mode_fpn": "True",
            "mode_mask": "True",
            "eval_period": 1,
            "batch_norm": "FreezeBN",
        },
        metric_definitions=[{"Name": name, "Regex": regex(name)} for name in METRICS],
        subnets=[f"subnet-0123456789abcdef{number}" for number in (1, 2, 3)],
        security_group_ids=["sg-0123456789abcdef0"],
    )
    estimator.fit(
        inputs={
            "train": channel("/mask-rcnn/sagemaker/input/train", "ro"),
            "log": channel(f"/mask-rcnn/sagemaker/output/log-{TIME}", "rw"),
        },
        job_name=f"mask-rcnn-efs-{TIME}",
        logs="All",
        wait=False,
    )
    return sent[0]


def main() -> None:
    with redirect_stdout(sys.stderr):
        request = capture()
    json.dump(request, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
