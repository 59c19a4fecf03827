"""What SageMaker takes, and the user should know of before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from training.errors import UsageError
from training.instances import find_instance
from training.job import JobSpec
from training.preflight.finding import Finding


def find(spec: JobSpec, body: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield warnings about a CreateTrainingJob body; nobody is asked."""
    yield from _sharded(body)
    yield from _encrypted_with_efa(body)
    yield from _without_smddp(spec)


def _sharded(body: Mapping[str, Any]) -> Iterator[Finding]:
    count = body["ResourceConfig"]["InstanceCount"]
    for channel in body["InputDataConfig"]:
        source = channel["DataSource"].get("S3DataSource", {})
        if source.get("S3DataDistributionType") == "ShardedByS3Key" and count > 1:
            yield Finding(
                "s3-data-sharded",
                "warning",
                f"sagemaker.s3_distribution ShardedByS3Key puts each file of {source['S3Uri']} on "
                f"one of the {count} instances, annotations and weights too, and each of them "
                "reads all; take FullyReplicated",
                "sagemaker.s3_distribution",
            )


def _encrypted_with_efa(body: Mapping[str, Any]) -> Iterator[Finding]:
    """EFA's traffic passes by the kernel, and with it by the tunnel of IPsec.

    https://docs.aws.amazon.com/sagemaker/latest/dg/train-encrypt.html names the protocols of the
    tunnel, and says nothing of EFA.
    """
    kind = body["ResourceConfig"]["InstanceType"]
    if body.get("EnableInterContainerTrafficEncryption") and _has_efa(kind):
        yield Finding(
            "traffic-encryption-with-efa",
            "warning",
            f"sagemaker.encrypt_traffic: {kind} has Elastic Fabric Adapters, and AWS does not say "
            "that what goes through them is encrypted",
            "sagemaker.encrypt_traffic",
        )


def _without_smddp(spec: JobSpec) -> Iterator[Finding]:
    """The project's own image has the PyTorch of PyPI, for which there is no SMDDP."""
    wanted = spec.sagemaker.distribution == "smddp" and spec.algorithm == "horovod"
    if wanted and spec.image is None:
        yield Finding(
            "image-without-smddp",
            "warning",
            "sagemaker.distribution: smddp: the image of docker/horovod has no SMDDP, which is "
            "there for torch up to 2.4.1 only; name an image that has it with image",
            "image",
        )


def _has_efa(kind: str) -> bool:
    try:
        return find_instance(kind).efa_interfaces != 0
    except UsageError:
        return False
