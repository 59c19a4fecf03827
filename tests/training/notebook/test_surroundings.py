"""What a notebook says of where it is."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LocalAws
from training.data.manifest import Entry, Manifest
from training.notebook.surroundings import Surroundings, look_around
from training.notebook.told import Told
from training.outputs import Outputs, StackOutputs

TRAIN = "mask-rcnn/sagemaker/input/train"
LOGS = "mask-rcnn/sagemaker/output"
EFS, FSX = "fs-0ef5", "fs-0f5a"

WHOLE = Manifest.of(
    Entry(path=path, size=1000, sha256="0" * 64)
    for path in ("annotations/instances_train2017.json", "train2017/1.jpg")
)


@dataclass(frozen=True)
class Deployed:
    """A bucket, and folders for both file systems."""

    stacks: Mapping[str, StackOutputs]
    s3: Any
    bucket: str
    efs: Path
    fsx: Path
    """The folder of the file system that mirrors the bucket."""

    def look(self) -> Surroundings:
        return Surroundings(Outputs(self.stacks, source="AWS in us-west-2"))

    def put(self, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)


@pytest.fixture
def deployed(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployed:
    for name, value in local_aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASK_RCNN_MOUNTS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    bucket = f"notebook-{uuid.uuid4()}"
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket=bucket)
    efs, fsx = tmp_path / EFS, tmp_path / FSX / "data"
    efs.mkdir()
    fsx.mkdir(parents=True)
    network = {
        "Project": "mask-rcnn",
        "VpcId": "vpc-1",
        "PrivateSubnetIds": "subnet-1",
        "AvailabilityZones": "us-west-2a",
        "TrainingSecurityGroupId": "sg-1",
    }
    storage = {
        "BucketName": bucket,
        "EncryptionKeyArn": "arn:aws:kms:us-west-2:123456789012:key/1",
        "EfsId": EFS,
        "EfsSecurityGroupId": "sg-2",
        "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
        "FsxId": FSX,
        "FsxMountName": "abcdefgh",
        "FsxDnsName": "fs-0f5a.fsx.us-west-2.amazonaws.com",
        "FsxSubnetId": "subnet-1",
        "FsxAvailabilityZone": "us-west-2a",
        "FsxSecurityGroupId": "sg-3",
        "FsxDataPath": "/data",
    }
    registry = {
        f"{name}RepositoryUri": f"123456789012.dkr.ecr.us-west-2.amazonaws.com/{name}".lower()
        for name in ("Horovod", "Tensorpack", "AwsSamples", "Tf2Smddp")
    }
    stacks = {"NetworkStack": network, "StorageStack": storage, "RegistryStack": registry}
    return Deployed(stacks, s3, bucket, efs, fsx)


def stage(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_bytes(WHOLE.to_bytes())


def test_it_names_the_stacks_and_what_is_staged_where(deployed: Deployed) -> None:
    deployed.put(f"{TRAIN}/manifest.json", WHOLE.to_bytes())
    stage(deployed.fsx / TRAIN)
    assert list(deployed.look().lines()) == [
        "AWS in us-west-2: NetworkStack, StorageStack, RegistryStack",
        f"data on S3: s3://{deployed.bucket}/{TRAIN}, 2 files, 2.0 kB",
        f"data on EFS: nothing is staged to {deployed.efs / TRAIN}",
        f"data on FSx: {deployed.fsx / TRAIN}, 2 files, 2.0 kB",
    ]


def test_it_says_what_is_not_there_or_not_mounted(deployed: Deployed) -> None:
    deployed.efs.rmdir()
    storage = {
        name: value
        for name, value in deployed.stacks["StorageStack"].items()
        if not name.startswith("Fsx")
    }
    stacks = {**deployed.stacks, "StorageStack": storage}
    lines = list(Surroundings(Outputs(stacks, source="AWS in us-west-2")).lines())
    assert lines[2].startswith(f"data on EFS: EFS file system {EFS} is not mounted")
    assert lines[3] == (
        "data on FSx: there is no FSx for Lustre: StorageStack was deployed with fsx = none"
    )


def test_data_is_there_once_it_was_staged_to_the_end(deployed: Deployed) -> None:
    deployed.put(f"{TRAIN}/train2017/1.jpg", b"picture")
    assert not deployed.look().has_data("s3")
    deployed.put(f"{TRAIN}/manifest.json", WHOLE.to_bytes())
    assert deployed.look().has_data("s3")
    assert deployed.look().has_data("s3", "train2017/*")
    assert not deployed.look().has_data("s3", "train2017-*.tfrecord")
    assert not deployed.look().has_data("efs")


def test_the_log_of_a_job_is_its_folder_where_that_is_mounted(deployed: Deployed) -> None:
    with pytest.raises(Told, match="no such folder; was job one launched"):
        deployed.look().log("efs", "one")
    for root, source in ((deployed.efs, "efs"), (deployed.fsx, "fsx")):
        folder = root / LOGS / "log-one"
        folder.mkdir(parents=True)
        assert deployed.look().log(source, "one") == folder


def test_of_a_log_on_s3_a_copy_is_made_without_its_large_files(deployed: Deployed) -> None:
    place = f"{LOGS}/log-one"
    files = {"metrics.jsonl": b"{}", "events/1": b"event", "rank-0.log": b"line"}
    large = {"checkpoints/5.pt": b"", "model.pt": b""}
    for name, body in (files | large).items():
        deployed.put(f"{place}/{name}", body)
    folder = deployed.look().log("s3", "one")
    assert folder == Path("logs/log-one")
    copied = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert copied == files
    deployed.put(f"{place}/metrics.jsonl", b"{}\n{}")  # The job runs on.
    deployed.look().log("s3", "one")
    assert (folder / "metrics.jsonl").read_bytes() == b"{}\n{}"


def test_of_a_job_that_wrote_nothing_to_s3_it_says_so(deployed: Deployed) -> None:
    with pytest.raises(Told, match=f"s3://{deployed.bucket}/{LOGS}/log-two"):
        deployed.look().log("s3", "two")


def test_a_missing_stack_is_named_with_the_command_that_deploys_it(
    local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in local_aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_REGION", "eu-south-2")  # Nothing is there.
    with pytest.raises(Told, match=r"eu-south-2.*cdk deploy NetworkStack"):
        look_around()


def test_without_a_region_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    with pytest.raises(Told, match="region"):
        look_around()
