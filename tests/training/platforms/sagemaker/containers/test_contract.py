"""What a container is told: exactly what SageMaker writes."""

from __future__ import annotations

from tests.training.platforms.sagemaker.containers.small_job import request_body
from training.platforms.sagemaker.containers.contract import config_files, host_names, variables


def test_the_three_files_of_a_host() -> None:
    files = config_files(request_body(), host_names(2), "algo-2")
    entry = {
        "TrainingInputMode": "File",
        "S3DistributionType": "FullyReplicated",
        "RecordWrapperType": "None",
    }
    assert files == {
        "hyperparameters.json": {"batch_norm": "FreezeBN"},
        "inputdataconfig.json": {"train": entry, "log": entry},
        "resourceconfig.json": {
            "current_host": "algo-2",
            "current_instance_type": "local",
            "current_group_name": "homogeneousCluster",
            "hosts": ["algo-1", "algo-2"],
            "instance_groups": [
                {
                    "instance_group_name": "homogeneousCluster",
                    "instance_type": "local",
                    "hosts": ["algo-1", "algo-2"],
                }
            ],
            "network_interface_name": "eth0",
            "topology": None,
        },
    }


def test_hosts_are_listed_as_text_is_sorted() -> None:
    files = config_files(request_body(), host_names(11), "algo-1")
    assert files["resourceconfig.json"]["hosts"][:4] == ["algo-1", "algo-10", "algo-11", "algo-2"]


def test_the_jobs_variables_come_with_sagemakers() -> None:
    assert variables(request_body(Environment={"A": "line\nline"}), "algo-1") == {
        "A": "line\nline",
        "TRAINING_JOB_NAME": "mask-rcnn-efs-one",
        "TRAINING_JOB_ARN": "arn:aws:sagemaker:local:000000000000:training-job/mask-rcnn-efs-one",
        "CURRENT_HOST": "algo-1",
    }
