"""What SageMaker takes, and the user should know of before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from training.instances import known_instance
from training.job import JobSpec
from training.preflight.finding import Finding


def find(spec: JobSpec, body: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield warnings about a CreateTrainingJob body; nobody is asked."""
    yield from _sharded(body)
    yield from _encrypted_with_efa(body)
    yield from _idle(spec, body)
    yield from _spot_here(spec, body)


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
    instance = known_instance(kind)
    has_efa = instance is not None and instance.efa_interfaces != 0
    if body.get("EnableInterContainerTrafficEncryption") and has_efa:
        yield Finding(
            "traffic-encryption-with-efa",
            "warning",
            f"sagemaker.encrypt_traffic: {kind} has Elastic Fabric Adapters, and AWS does not say "
            "that what goes through them is encrypted",
            "sagemaker.encrypt_traffic",
        )


def _idle(spec: JobSpec, body: Mapping[str, Any]) -> Iterator[Finding]:
    kind, processes = body["ResourceConfig"]["InstanceType"], spec.instances.processes_per_instance
    instance = known_instance(kind)
    if processes and instance and processes < instance.gpus:
        yield Finding(
            "gpus-idle",
            "warning",
            f"instances.processes_per_instance: {processes}: each {kind} has {instance.gpus} GPUs, "
            f"and {instance.gpus - processes} of them would do nothing and be paid for; leave it "
            "out, or take a smaller instances.type",
            "instances.processes_per_instance",
        )


def _spot_here(spec: JobSpec, body: Mapping[str, Any]) -> Iterator[Finding]:
    if spec.spot.enabled and body["ResourceConfig"]["InstanceType"] == "local":
        yield Finding(
            "spot-without-instances",
            "info",
            "spot.enabled: containers on this machine are no spot capacity, so that it changes "
            "nothing here",
            "spot.enabled",
        )
