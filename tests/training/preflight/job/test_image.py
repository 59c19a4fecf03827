"""The container image of a job."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    ACCOUNT,
    REGION,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.ecr import Ecr
from training.data.progress import format_bytes
from training.preflight.job.image import ImageIsThere

REGISTRY = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com"
OURS = f"{REGISTRY}/mask-rcnn/horovod"


def check(aws: Clients, image: str) -> ImageIsThere:
    return ImageIsThere(aws.ecr, image, "horovod", REGION, ACCOUNT)


def push(aws: Clients, tag: str) -> str:
    """Push an image; return its digest."""
    ecr = aws.boto("ecr")
    ecr.create_repository(repositoryName="mask-rcnn/horovod")
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": "sha256:" + "1" * 64},
        "layers": [],
    }
    answer = ecr.put_image(
        repositoryName="mask-rcnn/horovod", imageManifest=json.dumps(manifest), imageTag=tag
    )
    return str(answer["image"]["imageId"]["imageDigest"])


@pytest.mark.parametrize("tag", ["0123456789ab", "latest"])
def test_an_image_that_was_pushed_passes_by_tag_and_by_digest(aws: Clients, tag: str) -> None:
    digest = push(aws, tag)
    assert codes_of(check(aws, f"{OURS}:{tag}")) == []
    assert codes_of(check(aws, f"{OURS}@{digest}")) == []
    # As docker does, ECR takes `latest` where nothing is said.
    assert codes_of(check(aws, OURS)) == ([] if tag == "latest" else ["image-missing"])


def test_a_tag_that_was_not_pushed_says_how_to_build_it(aws: Clients) -> None:
    push(aws, "old")
    finding = only_finding_of(check(aws, f"{OURS}:new"), "image-missing")
    assert finding.message == (
        f"{OURS}:new is not in ECR. Build and push it: python -m training.images push --algorithm "
        "horovod"
    )
    assert finding.path == "image"


@pytest.mark.parametrize("image", [f"{OURS}:new", f"{OURS}:new".replace(REGION, "eu-west-1")])
def test_the_variant_that_runs_the_job_is_the_one_to_push(aws: Clients, image: str) -> None:
    [finding] = ImageIsThere(aws.ecr, image, "horovod", REGION, ACCOUNT, "smddp").find()
    assert finding.severity == "error"
    push = "python -m training.images push --algorithm horovod --variant smddp"
    assert push in finding.message


def test_a_repository_that_is_not_there_is_the_same_error(aws: Clients) -> None:
    assert codes_of(check(aws, f"{OURS}:new")) == ["image-missing"]


def test_another_region_is_an_error(aws: Clients) -> None:
    image = OURS.replace(REGION, "eu-west-1") + ":a"
    finding = only_finding_of(check(aws, image), "image-in-another-region")
    assert "is in eu-west-1, and the job would run in us-east-1" in finding.message
    assert "set AWS_REGION=eu-west-1" in finding.message


@pytest.mark.parametrize("image", ["docker.io/library/python:3.11", "python", "horovod:latest"])
def test_an_image_of_another_registry_is_an_error(aws: Clients, image: str) -> None:
    assert codes_of(check(aws, image)) == ["image-not-in-ecr"]


def test_images_of_other_accounts_are_not_asked_for(aws: Clients) -> None:
    of_aws = f"763104351884.dkr.ecr.{REGION}.amazonaws.com/tensorflow-training:2.11"
    assert codes_of(check(aws, of_aws)) == []
    in_china = ImageIsThere(
        aws.ecr,
        "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn/a/b:c",
        "horovod",
        "cn-north-1",
        ACCOUNT,
    )
    assert codes_of(in_china) == []


NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "size", "codes"),
    [
        (0, 10**9, []),
        (89, 10**9, []),
        (90, 10**9, ["image-details"]),
        (364, 10**9, ["image-details"]),
        (365, 10**9, ["image-old"]),
        (0, 10**10, ["image-details"]),
        (365, 50 * 2**30, ["image-larger-than-volume", "image-old"]),
    ],
)
def test_age_and_size_are_told_where_they_matter(
    stub: Stub, days: int, size: int, codes: list[str]
) -> None:
    details = {"imageSizeInBytes": size, "imagePushedAt": NOW - timedelta(days=days)}
    assert codes_of(described(stub, details)) == codes


def test_an_old_image_is_built_again(stub: Stub) -> None:
    details = {"imageSizeInBytes": 10**9, "imagePushedAt": NOW - timedelta(days=400)}
    message = only_finding_of(described(stub, details), "image-old").message
    assert f"{OURS}:a was pushed 400 days ago" in message
    assert message.endswith("python -m training.images push --algorithm horovod")


def test_size_and_age_are_in_the_message(stub: Stub) -> None:
    details = {"imageSizeInBytes": 12 * 10**9, "imagePushedAt": NOW - timedelta(days=3)}
    finding = only_finding_of(described(stub, details), "image-details")
    assert finding.severity == "info"
    assert finding.message == (
        f"{OURS}:a has {format_bytes(12 * 10**9)} compressed, which each machine pulls before it "
        "begins, and was pushed 3 days ago"
    )


def test_what_ecr_does_not_say_is_not_judged(stub: Stub) -> None:
    assert codes_of(described(stub, {})) == []


def described(stub: Stub, details: dict[str, Any]) -> ImageIsThere:
    """Return the check of an image that ECR describes so, for volumes of 50 GiB."""
    request = {"repositoryName": "mask-rcnn/horovod", "imageIds": [{"imageTag": "a"}]}
    client = stub("ecr", ("describe_images", {"imageDetails": [details]}, request))
    return ImageIsThere(
        Ecr(client), f"{OURS}:a", "horovod", REGION, ACCOUNT, volume_gib=50, now=NOW
    )
