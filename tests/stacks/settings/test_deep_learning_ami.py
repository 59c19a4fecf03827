"""Which of AWS's AMIs a node gets."""

from __future__ import annotations

import pytest

from stacks.settings.deep_learning_ami import AMAZON_LINUX_2, AMAZON_LINUX_2023, BaseAmi, base_ami
from training.instances import INSTANCES, Instance

OPEN_DRIVER = {
    *("g4dn", "g5", "g6", "gr6", "g6e", "g7", "g7e"),
    *("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300"),
}
"""`supported_ec2_instances` of the AMI's release notes of September 2026:
https://docs.aws.amazon.com/dlami/latest/devguide/aws-deep-learning-ami-gpubaseoss-al2023-2026-09-04.html
"""


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
def test_the_open_driver_is_for_the_families_that_aws_names(instance: Instance) -> None:
    if instance.architecture == "x86_64":
        expected = AMAZON_LINUX_2023 if instance.family in OPEN_DRIVER else AMAZON_LINUX_2
        assert base_ami(instance.name) == expected


@pytest.mark.parametrize(
    ("head", "worker", "ami"),
    [
        ("m6i.xlarge", "p4d.24xlarge", AMAZON_LINUX_2023),
        ("m6i.xlarge", "p3.16xlarge", AMAZON_LINUX_2),
        ("m6i.xlarge", "c7i.large", AMAZON_LINUX_2023),
        ("g5.xlarge", "p3.16xlarge", AMAZON_LINUX_2023),
    ],
)
def test_a_head_without_gpu_has_the_system_of_the_workers(
    head: str, worker: str, ami: BaseAmi
) -> None:
    assert base_ami(head, like=worker) == ami


def test_names_are_as_aws_publishes_them() -> None:
    assert AMAZON_LINUX_2023.parameter == (
        "/aws/service/deeplearning/ami/x86_64/"
        "base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
    )
    assert {ami.root_device for ami in (AMAZON_LINUX_2, AMAZON_LINUX_2023)} == {"/dev/xvda"}
