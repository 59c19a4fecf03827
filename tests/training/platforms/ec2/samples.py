"""The jobs whose requests are in tests/node/requests, which the tests of the nodes read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.training.platforms.ec2.planning import REQUESTS, document, outputs
from tests.training.platforms.sagemaker.planning import IMAGE, launch

SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "horovod-s3-elastic": {"name": "from-s3", "ec2__least_workers": 2, "instances__count": 4},
    "horovod-efs-resume": {
        "name": "goes-on",
        "data_source": "efs",
        "launched": launch(resume=True),
        "environment": {"NCCL_DEBUG": "INFO", "WORDS": 'a "b"\n$(touch /tmp/x) `id` é'},
        "tags": {"Team": "vision"},
    },
    "horovod-fsx-torchrun": {
        "name": "from-fsx",
        "data_source": "fsx",
        "ec2__distribution": "torchrun",
        "ec2__queue": True,
        "ec2__keep_workers": True,
        "ec2__network_interface": "ens5",
        "retries": 3,
    },
    "tensorpack-efs-mpi": {
        "name": "tutorial",
        "algorithm": "tensorpack",
        "data_source": "efs",
        "image": IMAGE,
        "stacks": outputs(WorkerInstanceType="p3.16xlarge"),
        "limits__max_run_s": 172_800,
    },
    "horovod-environment": {
        "name": "no-image",
        "data_source": "efs",
        "image": None,
        "stacks": outputs(RunsIn="environment", WorkerInstanceType="m6i.xlarge"),
    },
}


def write() -> None:
    """Write them anew; nothing calls it but whoever has changed what is sent."""
    REQUESTS.mkdir(parents=True, exist_ok=True)
    for name, options in SAMPLES.items():
        text = json.dumps(document(**options), indent=2, ensure_ascii=False) + "\n"
        (REQUESTS / f"{name}.json").write_text(text, encoding="utf-8")
