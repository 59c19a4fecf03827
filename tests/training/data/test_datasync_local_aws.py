"""`stage --with datasync`, from the command line to what local AWS did."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.validate import validate_parameters

from tests.conftest import ROOT, LocalAws
from tests.training.data.test_places import STORAGE
from training.data.datasync.plan import plan_transfer
from training.data.places import Place
from training.data.request import StageRequest
from training.errors import UsageError
from training.outputs import NetworkOutputs, StorageOutputs

NETWORK = {
    "Project": "vision",
    "VpcId": "vpc-0123456789abcdef0",
    "PrivateSubnetIds": "subnet-0123456789abcdef0",
    "AvailabilityZones": "us-east-1a",
    "TrainingSecurityGroupId": "sg-0123456789abcdef0",
}
FILES = {"train2017/a 1.jpg": b"a" * 3000, "train2017/b.jpg": b"b", "annotations/c.json": b"{}"}
TRUST = {"Version": "2012-10-17", "Statement": []}


class Stacks:
    """A bucket, an EFS, an FSx without a link and a role, as the stacks tell of them."""

    def __init__(self, aws: LocalAws, root: Path) -> None:
        self.aws, self.root = aws, root
        self.s3, self.datasync = aws.client("s3"), aws.client("datasync")
        mark = uuid.uuid4().hex[:12]
        self.bucket = f"datasync-{mark}"
        self.s3.create_bucket(Bucket=self.bucket)
        for path, content in FILES.items():
            self.s3.put_object(Bucket=self.bucket, Key=f"set/{path}", Body=content)
        made = aws.client("efs").create_file_system(CreationToken=mark)
        self.efs_id = made["FileSystemId"]
        fsx = aws.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=["subnet-0123456789abcdef0"],
            LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        )
        self.fsx_id = fsx["FileSystem"]["FileSystemId"]
        iam = aws.client("iam")
        role = iam.create_role(RoleName=mark, AssumeRolePolicyDocument=json.dumps(TRUST))
        self.storage = {
            **STORAGE,
            "BucketName": self.bucket,
            "EncryptionKeyArn": "arn:aws:kms:us-east-1:123456789012:key/1",
            "EfsId": self.efs_id,
            "FsxId": self.fsx_id,
            "DatasyncRoleArn": role["Role"]["Arn"],
        }

    def stage(self, *arguments: str, **environ: str) -> tuple[int, Any, str]:
        outputs = self.root / "outputs.json"
        outputs.write_text(json.dumps({"NetworkStack": NETWORK, "StorageStack": self.storage}))
        argv = (*arguments, "--path", "set", "--with", "datasync", "--format", "json")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "training.data", "stage", *argv),
                *("--outputs-file", str(outputs)),
            ],
            cwd=ROOT,
            env={**self.aws.process_env(), **environ},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    def tasks(self) -> list[dict[str, Any]]:
        tasks: list[dict[str, Any]] = self.datasync.list_tasks()["Tasks"]
        return tasks


@pytest.fixture
def stacks(local_aws: LocalAws, tmp_path: Path) -> Iterator[Stacks]:
    made = Stacks(local_aws, tmp_path)
    before = len(made.datasync.list_locations()["Locations"])
    yield made
    # Nothing stays that would hold network interfaces in the VPC.
    assert made.tasks() == []
    assert len(made.datasync.list_locations()["Locations"]) == before


def test_a_set_goes_to_efs_and_back_and_every_file_is_compared(stacks: Stacks) -> None:
    code, outcome, log = stacks.stage("--to", "efs")
    assert code == 0, log
    # DataSync has copied all of it; ours has found it there, and left the manifest.
    assert (outcome["files"], outcome["copied_files"]) == (len(FILES), 0)
    folder = stacks.aws.mounts / stacks.efs_id / "set"
    assert {path: (folder / path).read_bytes() for path in FILES} == FILES
    assert (folder / "manifest.json").is_file()
    assert "cost: at most 0.01 USD (DataSync: 0.0125 USD for each GB" in log
    assert "DataSync: success, 3 of 3 files" in log
    reports = stacks.s3.list_objects_v2(Bucket=stacks.bucket, Prefix="datasync-reports/")
    assert reports["KeyCount"] == 1

    (folder / "train2017" / "new.jpg").write_bytes(b"new")
    code, outcome, log = stacks.stage("--from", "efs", "--to", "s3")
    assert code == 0, log
    assert (outcome["files"], outcome["copied_files"]) == (len(FILES) + 1, 0)
    found = stacks.s3.get_object(Bucket=stacks.bucket, Key="set/train2017/new.jpg")
    assert found["Body"].read() == b"new"


def test_a_set_goes_to_an_fsx_that_no_link_fills(stacks: Stacks) -> None:
    code, outcome, log = stacks.stage("--to", "fsx")
    assert (code, outcome and outcome["files"]) == (0, len(FILES)), log
    copy = stacks.aws.mounts / stacks.fsx_id / "data" / "set" / "train2017" / "b.jpg"
    assert copy.read_bytes() == b"b"


def test_what_fsx_does_by_itself_is_refused(stacks: Stacks) -> None:
    stacks.aws.client("fsx").create_data_repository_association(
        FileSystemId=stacks.fsx_id,
        FileSystemPath="/data",
        DataRepositoryPath=f"s3://{stacks.bucket}/",
    )
    code, _, log = stacks.stage("--to", "fsx")
    assert code == 2
    assert "FSx imports and exports by itself" in log


def test_a_role_that_is_gone_leaves_nothing_behind(stacks: Stacks) -> None:
    stacks.storage["DatasyncRoleArn"] = "arn:aws:iam::123456789012:role/gone"
    code, _, log = stacks.stage("--to", "efs")
    assert code == 4
    assert "cannot assume role arn:aws:iam::123456789012:role/gone" in log


def test_a_source_without_files_starts_nothing(stacks: Stacks) -> None:
    stacks.storage["BucketName"] = f"{stacks.bucket}-empty"
    stacks.s3.create_bucket(Bucket=stacks.storage["BucketName"])
    code, _, log = stacks.stage("--to", "efs")
    assert code == 2
    assert "there are no files to copy" in log


def test_a_source_that_cannot_be_listed_starts_nothing(stacks: Stacks) -> None:
    code, _, log = stacks.stage("--to", "efs", AWS_ENDPOINT_URL_S3="http://127.0.0.1:1")
    assert code == 4, log
    assert log.startswith("error: http://127.0.0.1:1: no local AWS answers")


def test_a_dry_run_asks_nothing_of_datasync(stacks: Stacks) -> None:
    code, planned, log = stacks.stage("--to", "efs", "--dry-run")
    assert code == 0, log
    assert planned["datasync"]["cost"]["maximum"] is None
    [why] = planned["datasync"]["cost"]["assumptions"]
    assert "0.0125 USD for each GB" in why
    assert "how much there is to copy is not known here" in why
    assert stacks.tasks() == []


def test_a_transfer_that_fails_says_why_and_where_the_report_is(stacks: Stacks) -> None:
    # A folder where a file has to go.
    (stacks.aws.mounts / stacks.efs_id / "set" / "train2017" / "b.jpg").mkdir(parents=True)
    code, _, log = stacks.stage("--to", "efs")
    assert code == 1
    assert "failed: TransferFailed" in log
    assert f"s3://{stacks.bucket}/datasync-reports/" in log


def test_a_copy_that_nobody_here_could_compare_is_refused(stacks: Stacks) -> None:
    code, _, log = stacks.stage("--to", "efs", MASK_RCNN_MOUNTS="/nowhere")
    assert code == 2
    assert "Add --on sagemaker, ec2 or eks" in log


# The requests, as AWS's service model has them


def request(**changes: Any) -> StageRequest:
    given = {"source": None, "from_place": None, "to": Place.EFS, "path": "a/train", "jobs": 8}
    return StageRequest(**{**given, **changes})


def stack_outputs(**storage: str | None) -> tuple[NetworkOutputs, StorageOutputs]:
    role = {"DatasyncRoleArn": "arn:aws:iam::123456789012:role/datasync"}
    given = {**STORAGE, **role, **storage}
    return (
        NetworkOutputs.from_outputs(NETWORK, source="test"),
        StorageOutputs.from_outputs({k: v for k, v in given.items() if v}, source="test"),
    )


LOCATION = "arn:aws:datasync:eu-west-1:123456789012:location/loc-0123456789abcdef0"


@pytest.mark.parametrize(
    ("origin", "to"),
    [("s3", "efs"), ("efs", "s3"), ("s3", "fsx"), ("fsx", "s3"), ("efs", "fsx")],
)
def test_requests_are_as_the_service_model_has_them(origin: str, to: str) -> None:
    model = botocore.session.get_session().get_service_model("datasync")
    asked = request(from_place=Place(origin), to=Place(to))
    storage = {"EfsId": "fs-0123456789abcdef0", "FsxId": "fs-0123456789abcdef1"}
    transfer = plan_transfer(asked, *stack_outputs(**storage))
    for side in (transfer.source, transfer.target):
        name = "CreateLocation" + {"s3": "S3", "efs": "Efs", "fsx_lustre": "FsxLustre"}[side.kind]
        validate_parameters(dict(side.request), model.operation_model(name).input_shape)
    task = {"SourceLocationArn": LOCATION, "DestinationLocationArn": LOCATION, **transfer.task}
    validate_parameters(task, model.operation_model("CreateTask").input_shape)
    assert plan_transfer(asked, *stack_outputs(**storage)) == transfer


def test_a_path_between_slashes_is_the_same_copy() -> None:
    stacks = stack_outputs()
    assert plan_transfer(request(path="/a/train/"), *stacks) == plan_transfer(request(), *stacks)


def test_the_bucket_and_folders_are_those_of_the_stacks() -> None:
    network, storage = stack_outputs(BucketPrefix="team")
    to_fsx = plan_transfer(request(to=Place.FSX), network, storage)
    assert to_fsx.source.request["Subdirectory"] == "/team/a/train/"
    assert to_fsx.target.request["Subdirectory"] == "/data/a/train/"
    report = to_fsx.task["TaskReportConfig"]["Destination"]["S3"]
    assert report["Subdirectory"] == "/team/datasync-reports/"
    assert to_fsx.target.request["FsxFilesystemArn"] == (
        "arn:aws:fsx:eu-west-1:123456789012:file-system/fs-0f5a"
    )


@pytest.mark.parametrize(
    ("changes", "storage", "words"),
    [
        ({}, {"DatasyncRoleArn": None}, "cdk deploy StorageStack -c datasync=true"),
        ({"source": "s3://other/set"}, {}, "s3://other/set is none"),
        ({"path": "a#b"}, {}, "--path a#b: DataSync takes"),
        # All of a place, or what is outside of it, would be copied and paid for.
        ({"path": "/"}, {}, "--path '/': must name a folder"),
        ({"path": "../x"}, {}, "path '../x' has a part"),
    ],
)
def test_what_datasync_cannot_do_is_refused(
    changes: dict[str, Any], storage: dict[str, str | None], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        plan_transfer(request(**changes), *stack_outputs(**storage))
