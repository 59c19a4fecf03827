"""The AMI of the cluster's nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import REGION, Stub, codes_of, only_finding_of
from training.aws.ec2 import Ec2
from training.aws.ssm import Ssm
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.node_ami import AmiIsFit, NewestAmiIsThere

AMI = "ami-0123456789abcdef0"
OSS = "Deep Learning Base OSS Nvidia Driver GPU AMI (Amazon Linux 2023) 20251121"
PROPRIETARY = "Deep Learning Base Proprietary Nvidia Driver AMI (Amazon Linux 2) Version 68.4"


def image(**more: Any) -> dict[str, Any]:
    return {
        "ImageId": AMI,
        "Name": OSS,
        "State": "available",
        "Architecture": "x86_64",
        "RootDeviceName": "/dev/xvda",
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 75}}],
        **more,
    }


def check(
    stub: Stub, found: dict[str, Any] | None, worker: str = "p4d.24xlarge", volume_gib: int = 200
) -> AmiIsFit:
    call = (
        "describe_images",
        {"Images": [found] if found else []},
        {"Filters": [{"Name": "image-id", "Values": [AMI]}], "IncludeDeprecated": True},
    )
    return AmiIsFit(
        ec2=Ec2(stub("ec2", call)),
        region=REGION,
        ami=AMI,
        nodes=(PlannedNode("head", "m6i.xlarge", 1, 1), PlannedNode("worker", worker, 0, 4)),
        root_device="/dev/xvda",
        volume_gib=volume_gib,
    )


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"State": "pending"}, "cluster-ami-not-available", f"{AMI} is pending"),
    (
        {"Architecture": "arm64"},
        "cluster-ami-of-other-architecture",
        "is for arm64, and the nodes' types are for x86_64",
    ),
    (
        {"RootDeviceName": "/dev/sda1", "BlockDeviceMappings": []},
        "cluster-ami-root-device-differs",
        "Set cluster_root_device=/dev/sda1",
    ),
    (
        {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 201}}]},
        "cluster-ami-too-large",
        "takes 201 GiB",
    ),
    (
        {"Name": "al2023-ami-2023.6.20250303.0-kernel-6.1-x86_64"},
        "cluster-ami-without-driver",
        "has no NVIDIA driver, which p4d.24xlarge needs",
    ),
    (
        {"Name": "Deep Learning Base Neuron AMI (Ubuntu 22.04) 20251101"},
        "cluster-ami-without-driver",
        "has no NVIDIA driver",
    ),
    (
        {"Name": "our own of June"},
        "cluster-ami-driver-unknown",
        "does not say that it has NVIDIA's driver",
    ),
]


@pytest.mark.parametrize(("more", "code", "message"), WRONG)
def test_an_image_that_does_not_fit_is_told_why(
    stub: Stub, more: dict[str, Any], code: str, message: str
) -> None:
    assert message in only_finding_of(check(stub, image(**more)), code).message


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"Name": "our own", "Description": "with CUDA 12"},
        {"Name": "our own", "Tags": [{"Key": "driver", "Value": "nvidia-570"}]},
    ],
)
def test_an_image_that_says_it_has_a_driver_passes(stub: Stub, more: dict[str, Any]) -> None:
    assert codes_of(check(stub, image(**more))) == []


def test_an_image_of_the_same_size_as_the_disk_passes(stub: Stub) -> None:
    assert codes_of(check(stub, image(), volume_gib=75)) == []


@pytest.mark.parametrize(
    ("name", "worker", "line"),
    [
        (OSS, "p3.16xlarge", "Deep Learning Base Proprietary Nvidia Driver"),
        (PROPRIETARY, "p6-b200.48xlarge", "Deep Learning Base OSS Nvidia Driver"),
        (OSS, "g4dn.12xlarge", None),
        (PROPRIETARY, "p5.48xlarge", None),
        (PROPRIETARY, "p3.16xlarge", None),
    ],
)
def test_the_kind_of_driver_suits_the_gpu(
    stub: Stub, name: str, worker: str, line: str | None
) -> None:
    found = check(stub, image(Name=name), worker)
    if line is None:
        assert codes_of(found) == []
    else:
        message = only_finding_of(found, "cluster-ami-driver-unsuited").message
        assert f"Take an AMI of the line {line}, or another type" in message


def test_nodes_without_gpus_need_no_driver(stub: Stub) -> None:
    plain = image(Name="al2023-ami-2023.6.20250303.0-kernel-6.1-x86_64")
    assert codes_of(check(stub, plain, "c6i.4xlarge")) == []


def test_an_image_that_the_account_does_not_see_is_missing(stub: Stub) -> None:
    finding = only_finding_of(check(stub, None), "cluster-ami-missing")
    assert finding.severity == "error"
    assert f"cluster_ami is {AMI}, which this account does not see in us-east-1" in finding.message


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ({"Parameter": {"Name": "/aws/a", "Value": AMI}}, []),
        ("ParameterNotFound", ["cluster-ami-parameter-missing"]),
    ],
)
def test_the_newest_image_is_found_by_its_public_name(
    stub: Stub, answer: Any, codes: list[str]
) -> None:
    ssm = Ssm(stub("ssm", ("get_parameter", answer, {"Name": "/aws/a"})))
    found = codes_of(NewestAmiIsThere(ssm=ssm, region=REGION, parameter="/aws/a"))
    assert found == codes
