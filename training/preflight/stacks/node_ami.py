"""The machine image of the cluster's nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Description, Ec2
from training.aws.ssm import Ssm
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.node import PlannedNode

KEY = "cluster_ami"

PLAIN = re.compile(
    r"(al2023-ami-|amzn2-ami-|ubuntu/|ubuntu-|debian-|RHEL-|suse-|Windows_Server|ami-bottlerocket|"
    r"bottlerocket-|.*Neuron)",
    re.IGNORECASE,
)
"""Beginnings of the names that AWS and the distributions give to images without NVIDIA's driver."""

OLDEST_OF_OPEN_MODULES = (7, 5)
"""Compute capability of Turing: NVIDIA's open kernel modules drive nothing older.

https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html
"""
NEWEST_OF_PROPRIETARY_MODULES = (9, 0)
"""Compute capability of Hopper: the proprietary modules drive nothing newer (same page)."""


@dataclass(frozen=True)
class AmiIsFit(Check):
    """The nodes' AMI exists, is for their processors and GPUs, and fits on their disk.

    What is in an image only its name, description and tags say. Where they say nothing of a
    driver, that is told; the nodes' set-up looks for it.
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "cluster-ami-missing": "error",
        "cluster-ami-not-available": "error",
        "cluster-ami-of-other-architecture": "error",
        "cluster-ami-root-device-differs": "error",
        "cluster-ami-too-large": "error",
        "cluster-ami-without-driver": "error",
        "cluster-ami-driver-unsuited": "error",
        "cluster-ami-driver-unknown": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeImages",)

    ec2: Ec2
    region: str
    ami: str
    nodes: tuple[PlannedNode, ...]
    root_device: str
    """As the settings say; the disk of `volume_gib` is made under this name."""
    volume_gib: int

    def find(self) -> Iterator[Finding]:
        image = self.ec2.image(self.ami)
        if image is None:
            yield self.found(
                "cluster-ami-missing",
                KEY,
                f"{KEY} is {self.ami}, which this account does not see in {self.region}: an AMI is "
                "of one region and must be shared with the account. Correct it, copy it (aws ec2 "
                "copy-image), or leave it out for AWS's Deep Learning AMI",
            )
            return
        yield from self._judge_state(image)
        yield from self._judge_disk(image)
        yield from self._judge_driver(image)

    def _judge_state(self, image: Description) -> Iterator[Finding]:
        if image["State"] != "available":
            yield self.found(
                "cluster-ami-not-available",
                KEY,
                f"{KEY}: {self.ami} is {image['State']}, and only an available one starts. Wait "
                "for it, or take another",
            )
        if image["Architecture"] != "x86_64":
            yield self.found(
                "cluster-ami-of-other-architecture",
                KEY,
                f"{KEY}: {self.ami} is for {image['Architecture']}, and the nodes' types are for "
                "x86_64. Take an AMI for x86_64",
            )

    def _judge_disk(self, image: Description) -> Iterator[Finding]:
        device = image.get("RootDeviceName")
        if device != self.root_device:
            yield self.found(
                "cluster-ami-root-device-differs",
                "cluster_root_device",
                f"cluster_root_device is {self.root_device}, and the root device of {self.ami} is "
                f"{device}: the nodes would keep the image's own disk and get a second, empty one. "
                f"Set cluster_root_device={device}",
            )
        size = _root_gib(image)
        if size is not None and size > self.volume_gib:
            yield self.found(
                "cluster-ami-too-large",
                "cluster_volume_gib",
                f"cluster_volume_gib is {self.volume_gib}, and {self.ami} takes {size} GiB: EC2 "
                f"refuses a smaller disk. Set cluster_volume_gib to {size} or more",
            )

    def _judge_driver(self, image: Description) -> Iterator[Finding]:
        with_gpus = [node for node in self.nodes if node.gpu_instance]
        if not with_gpus:
            return
        name = image.get("Name") or "no name"
        if _says_nothing_of_a_driver(image):
            types = ", ".join(dict.fromkeys(node.instance_type for node in with_gpus))
            is_plain = PLAIN.match(name)
            code = "cluster-ami-without-driver" if is_plain else "cluster-ami-driver-unknown"
            knows = "has no NVIDIA driver" if is_plain else "does not say that it has NVIDIA's"
            yield self.found(
                code,
                KEY,
                f"{KEY}: {self.ami} ({name}) {knows}{'' if is_plain else ' driver'}, which {types} "
                "needs. Leave it out for AWS's Deep Learning Base AMI, or build yours from that"
                + ("" if is_plain else "; if the driver is in it, all is well"),
            )
            return
        for node in with_gpus:
            yield from self._judge_kind_of_driver(node, name)

    def _judge_kind_of_driver(self, node: PlannedNode, name: str) -> Iterator[Finding]:
        assert node.gpu_instance
        gpu = node.gpu_instance.gpu
        modules = name.lower()
        if "oss nvidia driver" in modules and gpu.compute_capability < OLDEST_OF_OPEN_MODULES:
            wanted = "Deep Learning Base Proprietary Nvidia Driver"
        elif (
            "proprietary nvidia driver" in modules
            and gpu.compute_capability > NEWEST_OF_PROPRIETARY_MODULES
        ):
            wanted = "Deep Learning Base OSS Nvidia Driver"
        else:
            return
        yield self.found(
            "cluster-ami-driver-unsuited",
            KEY,
            f"{KEY}: the driver of {self.ami} ({name}) does not drive the {gpu.model} of "
            f"{node.instance_type} ({node.key}). Take an AMI of the line {wanted}, or another type",
        )


def _root_gib(image: Description) -> int | None:
    for mapping in image.get("BlockDeviceMappings", []):
        if mapping.get("DeviceName") == image.get("RootDeviceName") and "Ebs" in mapping:
            size = mapping["Ebs"].get("VolumeSize")
            return int(size) if size is not None else None
    return None


def _says_nothing_of_a_driver(image: Description) -> bool:
    texts = [image.get("Name"), image.get("Description"), image.get("ImageLocation")]
    texts += [part for tag in image.get("Tags", []) for part in (tag["Key"], tag["Value"])]
    said = " ".join(text for text in texts if text).lower()
    if "neuron" in said:
        return True
    return not any(word in said for word in ("nvidia", "cuda", "deep learning", "gpu"))


@dataclass(frozen=True)
class NewestAmiIsThere(Check):
    """AWS publishes the Deep Learning AMI here under the name that CloudFormation looks up."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-ami-parameter-missing": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ssm:GetParameter",)

    ssm: Ssm
    region: str
    parameter: str

    def find(self) -> Iterator[Finding]:
        if self.ssm.parameter(self.parameter) is None:
            yield self.found(
                "cluster-ami-parameter-missing",
                KEY,
                f"AWS has no {self.parameter} in {self.region}, by which ClusterStack finds its "
                f"AMI. Name one yourself ({KEY}), or choose another region",
            )
