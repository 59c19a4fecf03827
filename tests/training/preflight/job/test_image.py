"""The container image of a job."""

from __future__ import annotations

import json

import pytest

from tests.training.preflight.stacks.conftest import ACCOUNT, REGION, codes_of, only_finding_of
from training.aws.clients import Clients
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
