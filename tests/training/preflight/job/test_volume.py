"""Whether the data fits on the instances."""

from __future__ import annotations

import pytest

from tests.training.preflight.stacks.conftest import codes_of, only_finding_of
from training.aws.clients import Clients
from training.data.manifest import Entry, Manifest
from training.preflight.job.asked import S3Place
from training.preflight.job.volume import DataFitsOnTheVolume

PLACE = S3Place("job-bucket", "ml/train")
GIB = 2**30


def check(aws: Clients, *sizes: int, is_ebs: bool = True) -> DataFitsOnTheVolume:
    """Return the check of files of some sizes, for a volume of 10 GiB."""
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket=PLACE.bucket)
    if sizes:
        files = [
            Entry(path=f"{number}.jpg", size=size, sha256="0" * 64)
            for number, size in enumerate(sizes)
        ]
        s3.put_object(
            Bucket=PLACE.bucket,
            Key=f"{PLACE.key}/manifest.json",
            Body=Manifest.of(files).to_bytes(),
        )
    return DataFitsOnTheVolume(aws.s3, PLACE, 10 * GIB, is_ebs=is_ebs)


def test_what_fits_passes(aws: Clients) -> None:
    assert codes_of(check(aws, 6 * GIB, 4 * GIB - 1)) == []


@pytest.mark.parametrize(
    ("is_ebs", "remedy"),
    [(True, "raise sagemaker.volume_gib"), (False, "take a type with more local NVMe")],
)
def test_what_does_not_fit_says_how_much_and_what_to_do(
    aws: Clients, *, is_ebs: bool, remedy: str
) -> None:
    finding = only_finding_of(
        check(aws, 6 * GIB, 4 * GIB, is_ebs=is_ebs), "data-larger-than-volume"
    )
    assert finding.message.startswith("s3://job-bucket/ml/train has ")
    assert finding.message.endswith(f"(sagemaker.input_mode FastFile), or {remedy}")


def test_without_a_manifest_nobody_knows(aws: Clients) -> None:
    assert codes_of(check(aws)) == []
    assert codes_of(DataFitsOnTheVolume(aws.s3, S3Place("none", "x"), 1, is_ebs=True)) == []


def test_a_manifest_of_something_else_is_told(aws: Clients) -> None:
    fits = check(aws)
    aws.boto("s3").put_object(
        Bucket=PLACE.bucket, Key=f"{PLACE.key}/manifest.json", Body=b'{"name": "a web app"}'
    )
    finding = only_finding_of(fits, "data-manifest-unreadable")
    assert finding.severity == "warning"
    assert "s3://job-bucket/ml/train/manifest.json: not a manifest" in finding.message
