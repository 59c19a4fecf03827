"""`stage` over the link of FSx for Lustre and S3, from the command line to what local AWS did."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws
from tests.training.data.test_places import STORAGE
from training.data import lustre
from training.data.commands.stage import stage
from training.data.manifest import parse_manifest
from training.data.places import Place
from training.errors import JobFailed
from training.layout import TRAIN_PATH

FILES = {
    "train2017/a.jpg": b"picture a",
    "train2017/ü b+#%25.jpg": b"picture b",
    "annotations/instances_train2017.json": b"{}" * 1000,
}


class Linked:
    """A bucket and an FSx for Lustre file system, as StorageStack tells of them."""

    def __init__(self, aws: LocalAws, root: Path) -> None:
        self.aws, self.fsx, self.s3 = aws, aws.client("fsx"), aws.client("s3")
        self.root = root
        self.source = write(root / "source")
        self.bucket = f"linked-{uuid.uuid4().hex[:12]}"
        self.s3.create_bucket(Bucket=self.bucket)
        self.id, self.data_path = "", "/data"
        self._outputs_file = root / "outputs.json"

    def make_file_system(self, **configuration: Any) -> None:
        configuration = {"DeploymentType": "SCRATCH_2", **configuration}
        made = self.fsx.create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=["subnet-0123456789abcdef0"],
            LustreConfiguration=configuration,
        )["FileSystem"]
        self.id = made["FileSystemId"]

    def associate(self, **policies: Any) -> None:
        """Link the bucket; without a policy nothing is imported or exported unless asked for."""
        self.fsx.create_data_repository_association(
            FileSystemId=self.id,
            FileSystemPath=self.data_path,
            DataRepositoryPath=f"s3://{self.bucket}/",
            S3=policies,
        )

    @property
    def folder(self) -> Path:
        return self.aws.mounts / self.id / self.data_path.strip("/") / TRAIN_PATH

    @property
    def outputs_file(self) -> Path:
        storage = {
            **STORAGE,
            "BucketName": self.bucket,
            "FsxId": self.id,
            "FsxDataPath": self.data_path,
        }
        self._outputs_file.write_text(json.dumps({"StorageStack": storage}))
        return self._outputs_file

    def stage(self, *arguments: str | Path, **environ: str) -> tuple[int, Any, str]:
        """Run the command; return its exit code, what it says of the copy, and stderr."""
        process = subprocess.run(
            [
                *(sys.executable, "-m", "training.data", "stage", *map(str, arguments)),
                *("--outputs-file", str(self.outputs_file), "--format", "json"),
            ],
            cwd=ROOT,
            env={**self.aws.process_env(), **environ},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        outcome = json.loads(process.stdout) if process.stdout else None
        return process.returncode, outcome, process.stderr

    def objects(self) -> dict[str, bytes]:
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=f"{TRAIN_PATH}/")
        keys = [each["Key"] for each in listed.get("Contents", [])]
        bodies = {key: self.s3.get_object(Bucket=self.bucket, Key=key)["Body"] for key in keys}
        return {key.removeprefix(f"{TRAIN_PATH}/"): body.read() for key, body in bodies.items()}

    def tasks(self) -> list[tuple[str, list[str], str, int]]:
        """Type, paths, end and number of files of each task so far."""
        filters = [{"Name": "file-system-id", "Values": [self.id]}]
        found = self.fsx.describe_data_repository_tasks(Filters=filters)["DataRepositoryTasks"]
        return [
            (each["Type"], each["Paths"], each["Lifecycle"], each["Status"]["SucceededCount"])
            for each in found
        ]


def write(root: Path) -> Path:
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root


def read(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture
def linked(local_aws: LocalAws, tmp_path: Path) -> Iterator[Linked]:
    linked = Linked(local_aws, tmp_path)
    yield linked
    if linked.id:
        linked.fsx.delete_file_system(FileSystemId=linked.id)


def test_a_set_goes_to_s3_to_fsx_and_back_over_the_association(linked: Linked) -> None:
    linked.make_file_system()
    linked.associate()
    code, _, stderr = linked.stage(linked.source, "--to", "s3")
    assert (code, linked.tasks()) == (0, []), stderr
    assert not linked.folder.exists()

    code, imported, stderr = linked.stage("--to", "fsx", "--preload")
    assert code == 0, stderr
    address = f"s3://{linked.bucket}/{TRAIN_PATH}"
    assert (imported["how"], imported["source"], imported["files"]) == ("imported", address, 3)
    assert imported["extra_files"] == 0
    there = read(linked.folder)
    assert {name: there[name] for name in FILES} == FILES
    with_manifest = len(FILES) + 1
    task = ("IMPORT_METADATA_FROM_REPOSITORY", [address], "SUCCEEDED", with_manifest)
    assert linked.tasks() == [task]

    (linked.folder / "train2017/a.jpg").write_bytes(b"another picture")
    (linked.folder / "train2017/c.jpg").write_bytes(b"picture c")
    (linked.folder / "manifest.json").unlink()
    code, exported, stderr = linked.stage("--from", "fsx", "--to", "s3", "--release")
    assert code == 0, stderr
    assert (exported["how"], exported["target"], exported["files"]) == ("exported", address, 4)
    inside = f"data/{TRAIN_PATH}"
    assert linked.tasks()[1:] == [
        ("EXPORT_TO_REPOSITORY", [inside], "SUCCEEDED", 4),
        ("RELEASE_DATA_FROM_FILESYSTEM", [inside], "SUCCEEDED", 4),
    ]
    objects = linked.objects()
    manifest = parse_manifest(objects.pop("manifest.json"), "manifest.json")
    assert objects == read(linked.folder)
    assert objects["train2017/a.jpg"] == b"another picture"
    assert {entry.path: entry.size for entry in manifest.files} == {
        path: len(content) for path, content in objects.items()
    }


def test_a_task_that_fails_is_one_error_with_its_numbers(linked: Linked) -> None:
    linked.make_file_system()
    linked.associate()
    linked.stage(linked.source, "--to", "s3")
    (linked.folder / "train2017/a.jpg").mkdir(parents=True)
    code, outcome, stderr = linked.stage("--to", "fsx")
    assert (code, outcome) == (1, None)
    assert "(IMPORT_METADATA_FROM_REPOSITORY) of s3://" in stderr
    assert "failed (4 total, 3 succeeded, 1 failed)" in stderr
    assert "Traceback" not in stderr


def run_here(
    linked: Linked, monkeypatch: pytest.MonkeyPatch, to: Place, from_place: Place | None = None
) -> None:
    """Run the command in this process, where its patience can be made short."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in linked.aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(lustre, "_POLL_S", 0.01)
    monkeypatch.setattr(lustre, "ARRIVAL_S", 0.1)
    stage(to=to, from_place=from_place, outputs_file=linked.outputs_file, jobs=2)


def test_a_name_that_never_arrives_ends_the_wait_with_what_to_do(
    linked: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FSx lists the bucket of an ImportPath once, and here does not follow it."""
    linked.data_path = "/"
    linked.make_file_system(ImportPath=f"s3://{linked.bucket}", ExportPath=f"s3://{linked.bucket}")
    linked.stage(linked.source, "--to", "s3")
    with pytest.raises(JobFailed, match=r"3 of 3 files of S3 have not arrived.*fsx_import_events"):
        run_here(linked, monkeypatch, Place.FSX)
    assert linked.tasks() == []


def test_what_is_not_linked_is_copied_whole_and_neither_preloaded_nor_released(
    linked: Linked,
) -> None:
    """As StorageStack with fsx_bucket_link = none."""
    linked.data_path = "/"
    linked.make_file_system()
    linked.stage(linked.source, "--to", "s3")
    elsewhere = str(linked.root / "nothing")
    code, _, stderr = linked.stage("--to", "fsx", MASK_RCNN_MOUNTS=elsewhere)
    assert code == 2
    assert f"{linked.id} is not mounted on this machine" in stderr
    code, _, stderr = linked.stage("--to", "fsx", "--preload")
    assert code == 2
    assert f"--preload: {linked.folder} is not linked to s3://{linked.bucket}" in stderr
    assert read(linked.aws.mounts / linked.id) == {}
    code, outcome, stderr = linked.stage("--to", "fsx")
    assert (code, outcome["how"], outcome["copied_files"]) == (0, "copied", 3), stderr
    code, _, stderr = linked.stage("--from", "fsx", "--to", "s3", "--release")
    assert code == 2
    assert f"--release: {linked.folder} is not linked to s3://{linked.bucket}" in stderr


def test_an_export_path_of_its_own_is_no_way_back(linked: Linked) -> None:
    linked.data_path = "/"
    linked.make_file_system(ImportPath=f"s3://{linked.bucket}")
    shutil.copytree(linked.source, linked.folder)
    code, outcome, stderr = linked.stage("--from", "fsx", "--to", "s3")
    assert (code, outcome["how"], linked.tasks()) == (0, "copied", []), stderr


def judge_permissions_after(aws: LocalAws, requests: bytes) -> None:
    """Have moto, which lets everybody do everything, ask for permissions from then on."""
    url, headers = f"{aws.endpoint}/moto-api/reset-auth", {"Content-Type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(url, requests, headers)).close()


@pytest.fixture
def with_permissions(local_aws: LocalAws) -> Iterator[Callable[..., dict[str, str]]]:
    """Make a user who may do some actions and no others, while the test lasts."""
    iam, name = local_aws.client("iam"), f"user-{uuid.uuid4().hex[:12]}"

    def user(*actions: str) -> dict[str, str]:
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName="some", PolicyDocument=policy)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        judge_permissions_after(local_aws, b"0")
        return {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }

    yield user
    judge_permissions_after(local_aws, b"inf")


READING = (
    "s3:ListBucket",
    "s3:GetObject",
    "fsx:DescribeDataRepositoryAssociations",
    "fsx:DescribeFileSystems",
)


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        (READING[:2], "DescribeDataRepositoryAssociations"),
        (READING, "CreateDataRepositoryTask"),
    ],
)
def test_a_refused_permission_is_one_error_that_names_it(
    linked: Linked,
    with_permissions: Callable[..., dict[str, str]],
    allowed: tuple[str, ...],
    refused: str,
) -> None:
    linked.make_file_system()
    linked.associate()
    linked.stage(linked.source, "--to", "s3")
    code, outcome, stderr = linked.stage("--to", "fsx", **with_permissions(*allowed))
    assert (code, outcome) == (4, None)
    assert f"{refused}: " in stderr
    assert "Your identity lacks this permission" in stderr
    assert "Traceback" not in stderr
    assert not linked.folder.exists()
