from __future__ import annotations

from pathlib import Path

import boto3
import pytest

from training.data.bucket import Bucket
from training.data.folder import Folder
from training.data.places import Place, Places
from training.errors import UsageError
from training.outputs import Outputs

STORAGE = {
    "BucketName": "the-bucket",
    "EncryptionKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1",
    "EfsId": "fs-0ef5",
    "EfsSecurityGroupId": "sg-1",
    "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
    "FsxId": "fs-0f5a",
    "FsxMountName": "abcdefgh",
    "FsxDnsName": "fs-0f5a.fsx.eu-west-1.amazonaws.com",
    "FsxSubnetId": "subnet-1",
    "FsxAvailabilityZone": "eu-west-1a",
    "FsxSecurityGroupId": "sg-2",
    "FsxDataPath": "/data",
}


def places(mounts: Path, stacks: dict[str, dict[str, str]]) -> Places:
    return Places(
        make_client=lambda: boto3.client("s3", region_name="eu-west-1"),
        read_outputs=lambda: Outputs(stacks, source="outputs.json"),
        environ={"MASK_RCNN_MOUNTS": str(mounts)},
    )


@pytest.fixture
def deployed(tmp_path: Path) -> Places:
    for name in ("fs-0ef5", "fs-0f5a"):
        (tmp_path / name).mkdir()
    return places(tmp_path, {"StorageStack": STORAGE})


def test_each_place_of_the_stack_has_the_path_where_jobs_look(
    deployed: Places, tmp_path: Path
) -> None:
    assert deployed.of_stack(Place.S3, "/a/train/").name == "s3://the-bucket/a/train"
    assert deployed.of_stack(Place.EFS, "a/train").name == str(tmp_path / "fs-0ef5/a/train")
    assert deployed.of_stack(Place.FSX, "a/train").name == str(tmp_path / "fs-0f5a/data/a/train")


def test_the_prefix_of_the_bucket_stands_before_every_path_on_s3_and_on_nothing_else(
    tmp_path: Path,
) -> None:
    """FSx mirrors the prefix, so that the same path leads to the same file there."""
    for name in ("fs-0ef5", "fs-0f5a"):
        (tmp_path / name).mkdir()
    prefixed = places(tmp_path, {"StorageStack": {**STORAGE, "BucketPrefix": "ml-platform"}})
    assert prefixed.of_stack(Place.S3, "data/coco2017").name == (
        "s3://the-bucket/ml-platform/data/coco2017"
    )
    assert prefixed.of_stack(Place.EFS, "data/coco2017").name == (
        str(tmp_path / "fs-0ef5/data/coco2017")
    )
    assert prefixed.of_stack(Place.FSX, "data/coco2017").name == (
        str(tmp_path / "fs-0f5a/data/data/coco2017")
    )


def test_fsx_of_a_stack_without_it_is_refused_and_the_rest_is_not(tmp_path: Path) -> None:
    (tmp_path / "fs-0ef5").mkdir()
    without = {key: value for key, value in STORAGE.items() if not key.startswith("Fsx")}
    stacks = {"StorageStack": without}
    assert places(tmp_path, stacks).of_stack(Place.EFS, "a").name == str(tmp_path / "fs-0ef5/a")
    with pytest.raises(UsageError, match=r"^fsx: StorageStack has no FSx for Lustre file system"):
        places(tmp_path, stacks).of_stack(Place.FSX, "a")


def test_a_name_is_a_bucket_with_its_scheme_and_a_folder_without(deployed: Places) -> None:
    assert isinstance(deployed.named("s3://bucket/x"), Bucket)
    assert deployed.named("s3://bucket/x/").name == "s3://bucket/x"
    assert isinstance(deployed.named("some/folder"), Folder)


@pytest.mark.parametrize(
    "text",
    [
        *("s3://", "s3:///x", "s3://bucket/a//b", "s3://bucket/../x"),
        *("s3://Bucket/x", "s3://a b/x", "s3://b/x", "s3://-bucket/x"),
    ],
)
def test_a_wrong_s3_address_is_refused(text: str, deployed: Places) -> None:
    with pytest.raises(UsageError):
        deployed.named(text)


@pytest.mark.parametrize("path", ["", "/", "../other"])
def test_a_path_that_is_none_is_refused(path: str, deployed: Places) -> None:
    with pytest.raises(UsageError, match="path"):
        deployed.of_stack(Place.EFS, path)


@pytest.mark.parametrize(("place", "name"), [(Place.EFS, "fs-0ef5"), (Place.FSX, "fs-0f5a")])
def test_a_file_system_that_is_not_mounted_here_is_named(
    place: Place, name: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"{name} is not mounted on this machine"):
        places(tmp_path, {"StorageStack": STORAGE}).of_stack(place, "x")


def test_a_stack_that_is_not_deployed_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cdk deploy StorageStack"):
        places(tmp_path, {}).of_stack(Place.S3, "x")


def test_nothing_is_asked_for_a_folder() -> None:
    def fail() -> None:
        raise AssertionError

    lazy = Places(make_client=fail, read_outputs=fail, environ={})  # type: ignore[arg-type]
    assert lazy.named("folder").name == "folder"
