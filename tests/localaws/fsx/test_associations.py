"""FSx through its API: file systems as folders, linked to a bucket."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws

SUBNET = "subnet-0123456789abcdef0"


@pytest.fixture(scope="module")
def fsx(local_aws: LocalAws) -> Any:
    return local_aws.client("fsx")


@pytest.fixture(scope="module")
def s3(local_aws: LocalAws) -> Any:
    return local_aws.client("s3")


@pytest.fixture
def bucket(s3: Any, request: pytest.FixtureRequest) -> str:
    name = f"linked-{abs(hash(request.node.name)) % 10**9}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def new_file_system(fsx: Any) -> Iterator[Callable[..., str]]:
    made: list[str] = []

    def new(deployment_type: str = "SCRATCH_2", **configuration: Any) -> str:
        answer = fsx.create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=[SUBNET],
            LustreConfiguration={"DeploymentType": deployment_type, **configuration},
        )
        made.append(answer["FileSystem"]["FileSystemId"])
        return made[-1]

    yield new
    for file_system_id in made:
        try:
            fsx.delete_file_system(FileSystemId=file_system_id)
        except fsx.exceptions.FileSystemNotFound:
            continue


def associate(fsx: Any, file_system_id: str, s3_path: str, **more: Any) -> dict[str, Any]:
    answer = fsx.create_data_repository_association(
        FileSystemId=file_system_id,
        FileSystemPath=more.pop("FileSystemPath", "/data"),
        DataRepositoryPath=s3_path,
        **more,
    )
    association: dict[str, Any] = answer["Association"]
    return association


def start(fsx: Any, file_system_id: str, kind: str, *paths: str, **more: Any) -> dict[str, Any]:
    answer = fsx.create_data_repository_task(
        Type=kind, FileSystemId=file_system_id, Paths=paths, Report={"Enabled": False}, **more
    )
    task: dict[str, Any] = answer["DataRepositoryTask"]
    return task


def run(fsx: Any, file_system_id: str, kind: str, *paths: str, **more: Any) -> dict[str, Any]:
    """Run a task and wait for its end."""
    task = start(fsx, file_system_id, kind, *paths, **more)
    deadline = time.monotonic() + 20
    while task["Lifecycle"] in ("PENDING", "EXECUTING") and time.monotonic() < deadline:
        time.sleep(0.05)
        found = fsx.describe_data_repository_tasks(TaskIds=[task["TaskId"]])
        (task,) = found["DataRepositoryTasks"]
    return task


def test_file_system_has_a_folder_until_it_is_deleted(
    local_aws: LocalAws, fsx: Any, new_file_system: Callable[..., str]
) -> None:
    file_system_id = new_file_system()
    (seen,) = fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"]
    assert seen["Lifecycle"] == "AVAILABLE"
    assert seen["LustreConfiguration"]["DeploymentType"] == "SCRATCH_2"
    assert len(seen["LustreConfiguration"]["MountName"]) == 8
    folder = local_aws.mounts / file_system_id
    (folder / "file").write_text("x")
    fsx.delete_file_system(FileSystemId=file_system_id)
    assert not folder.exists()
    with pytest.raises(fsx.exceptions.FileSystemNotFound):
        fsx.describe_file_systems(FileSystemIds=[file_system_id])


def test_association_imports_what_the_bucket_has(
    local_aws: LocalAws, fsx: Any, s3: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    for key in ("in/a", "in/sub/b", "other/c", "in/../d"):
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode())
    s3.put_object(Bucket=bucket, Key="in/gone", Body=b"")
    s3.delete_object(Bucket=bucket, Key="in/gone")
    file_system_id = new_file_system()
    made = associate(fsx, file_system_id, f"s3://{bucket}/in", BatchImportMetaDataOnCreate=True)
    assert made["Lifecycle"] == "AVAILABLE"
    root = local_aws.mounts / file_system_id
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert files == {"data/a", "data/sub/b"}
    assert (root / "data/sub/b").read_bytes() == b"in/sub/b"
    filters = [{"Name": "file-system-id", "Values": [file_system_id]}]
    assert fsx.describe_data_repository_associations(Filters=filters)["Associations"] == [made]


def test_followed_bucket_changes_the_folder_and_an_unfollowed_does_not(
    local_aws: LocalAws, fsx: Any, s3: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    followed, unfollowed = new_file_system(), new_file_system()
    policy = {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}
    associate(fsx, followed, f"s3://{bucket}", S3=policy)
    associate(fsx, unfollowed, f"s3://{bucket}")
    file = local_aws.mounts / followed / "data/a/b"
    s3.put_object(Bucket=bucket, Key="a/b", Body=b"one")
    assert file.read_bytes() == b"one"
    s3.put_object(Bucket=bucket, Key="a/b", Body=b"two")
    assert file.read_bytes() == b"two"
    s3.delete_object(Bucket=bucket, Key="a/b")
    assert not file.exists()
    s3.put_object(Bucket=bucket, Key="c", Body=b"three")
    assert list((local_aws.mounts / unfollowed / "data").iterdir()) == []
    assert run(fsx, unfollowed, "IMPORT_METADATA_FROM_REPOSITORY")["Lifecycle"] == "SUCCEEDED"
    assert (local_aws.mounts / unfollowed / "data/c").read_bytes() == b"three"


def test_export_writes_new_and_changed_files_only(
    local_aws: LocalAws, fsx: Any, s3: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    file_system_id = new_file_system()
    associate(fsx, file_system_id, f"s3://{bucket}/out")
    data = local_aws.mounts / file_system_id / "data"
    (data / "log").mkdir()
    (data / "log/same").write_bytes(b"same")
    (data / "other").write_bytes(b"other")
    first = run(fsx, file_system_id, "EXPORT_TO_REPOSITORY", "data/log")
    assert first["Status"]["SucceededCount"] == 1
    (data / "log/new").write_bytes(b"new")
    run(fsx, file_system_id, "EXPORT_TO_REPOSITORY")
    versions = s3.list_object_versions(Bucket=bucket)["Versions"]
    assert sorted(each["Key"] for each in versions) == ["out/log/new", "out/log/same", "out/other"]
    assert s3.get_object(Bucket=bucket, Key="out/log/new")["Body"].read() == b"new"


def test_import_takes_paths_of_the_bucket_as_whole_folders(
    local_aws: LocalAws, fsx: Any, s3: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    for key in ("in/a/1", "in/a/2", "in/ab/3", "in/b", "out/4"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    file_system_id = new_file_system()
    associate(fsx, file_system_id, f"s3://{bucket}/in/")
    root = local_aws.mounts / file_system_id

    def imported(*paths: str) -> tuple[str, set[str]]:
        task = run(fsx, file_system_id, "IMPORT_METADATA_FROM_REPOSITORY", *paths)
        files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
        return task["Lifecycle"], files

    assert imported(f"s3://{bucket}/in/a") == ("SUCCEEDED", {"data/a/1", "data/a/2"})
    assert imported(f"s3://{bucket}/in/b") == ("SUCCEEDED", {"data/a/1", "data/a/2", "data/b"})
    everything = {"data/a/1", "data/a/2", "data/ab/3", "data/b"}
    assert imported(f"s3://{bucket}") == ("SUCCEEDED", everything)


@pytest.fixture
def linked(fsx: Any, bucket: str, new_file_system: Callable[..., str]) -> str:
    file_system_id = new_file_system()
    associate(fsx, file_system_id, f"s3://{bucket}/in")
    return file_system_id


@pytest.mark.parametrize(
    ("kind", "path", "message"),
    [
        ("IMPORT_METADATA_FROM_REPOSITORY", "data", "data is not of the form s3://bucket/prefix"),
        ("IMPORT_METADATA_FROM_REPOSITORY", "s3://other/in", "path s3://other/in is not linked"),
        ("EXPORT_TO_REPOSITORY", "elsewhere", "path elsewhere is not linked to a bucket"),
        ("EXPORT_TO_REPOSITORY", "data/gone", "path data/gone does not exist"),
        ("EXPORT_TO_REPOSITORY", "data/../..", "path data/../.. is not linked to a bucket"),
        ("RELEASE_DATA_FROM_FILESYSTEM", "s3://other/in", "is not linked to a bucket"),
    ],
)
def test_task_with_a_path_of_another_kind_or_place_fails(
    kind: str, path: str, message: str, fsx: Any, linked: str
) -> None:
    task = run(fsx, linked, kind, path)
    assert task["Lifecycle"] == "FAILED"
    assert message in task["FailureDetails"]["Message"]


def test_release_is_for_what_was_exported_and_lay_idle(
    local_aws: LocalAws, fsx: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    file_system_id = new_file_system()
    associate(fsx, file_system_id, f"s3://{bucket}")
    data = local_aws.mounts / file_system_id / "data"
    (data / "exported").write_bytes(b"1")
    run(fsx, file_system_id, "EXPORT_TO_REPOSITORY")
    (data / "new").write_bytes(b"2")

    def released(*paths: str, days: int) -> int:
        idle = {"DurationSinceLastAccess": {"Unit": "DAYS", "Value": days}}
        kind = "RELEASE_DATA_FROM_FILESYSTEM"
        task = run(fsx, file_system_id, kind, *paths, ReleaseConfiguration=idle)
        assert (task["Lifecycle"], task["ReleaseConfiguration"]) == ("SUCCEEDED", idle)
        return int(task["Status"]["TotalCount"])

    assert released("/", days=0) == 1
    assert released("data/exported", days=0) == 1
    assert released("data/new", days=0) == 0
    assert released("/", days=1) == 0
    assert (data / "exported").read_bytes() == b"1"


def test_completion_report_is_refused_and_not_left_out_silently(
    fsx: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    file_system_id = new_file_system()
    associate(fsx, file_system_id, f"s3://{bucket}")
    report = {
        "Enabled": True,
        "Path": f"s3://{bucket}/reports",
        "Format": "REPORT_CSV_20191124",
        "Scope": "FAILED_FILES_ONLY",
    }
    with pytest.raises(fsx.exceptions.BadRequest, match=r"Report\.Enabled must be false"):
        fsx.create_data_repository_task(
            Type="EXPORT_TO_REPOSITORY", FileSystemId=file_system_id, Report=report
        )


def test_export_path_stands_for_the_root_and_is_a_folder_of_its_own_where_not_given(
    local_aws: LocalAws, fsx: Any, s3: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    s3.put_object(Bucket=bucket, Key="in/a", Body=b"a")
    paths = {"ImportPath": f"s3://{bucket}/in/"}
    with_path = new_file_system(**paths, ExportPath=f"s3://{bucket}")
    without = new_file_system(**paths)
    (system,) = fsx.describe_file_systems(FileSystemIds=[without])["FileSystems"]
    shown = system["LustreConfiguration"]["DataRepositoryConfiguration"]["ExportPath"]
    assert re.fullmatch(rf"s3://{bucket}/FSxLustre\d{{8}}T\d{{6}}Z", shown)
    for file_system_id in (with_path, without):
        (local_aws.mounts / file_system_id / "in/new").write_bytes(b"new")
        assert run(fsx, file_system_id, "EXPORT_TO_REPOSITORY")["Lifecycle"] == "SUCCEEDED"
    own = shown.rpartition("/")[2]
    keys = {each["Key"] for each in s3.list_objects_v2(Bucket=bucket)["Contents"]}
    assert keys == {"in/a", "in/new", f"{own}/in/a", f"{own}/in/new"}


def test_import_path_of_a_scratch_file_system_shows_the_bucket_from_its_root_on(
    local_aws: LocalAws, fsx: Any, s3: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    s3.put_object(Bucket=bucket, Key="in/a", Body=b"a")
    s3.put_object(Bucket=bucket, Key="other/b", Body=b"b")
    file_system_id = new_file_system(ImportPath=f"s3://{bucket}/in")
    root = local_aws.mounts / file_system_id
    assert (root / "in/a").read_bytes() == b"a"
    assert not (root / "other").exists()
    with pytest.raises(ClientError, match="ImportPath takes no data repository association"):
        associate(fsx, file_system_id, f"s3://{bucket}")


def test_impossible_links_are_refused_with_the_reason(
    fsx: Any, bucket: str, new_file_system: Callable[..., str]
) -> None:
    file_system_id = new_file_system()
    associate(fsx, file_system_id, f"s3://{bucket}/a")
    with pytest.raises(fsx.exceptions.BadRequest, match="overlaps /data"):
        associate(fsx, file_system_id, f"s3://{bucket}/b", FileSystemPath="/data/b")
    with pytest.raises(fsx.exceptions.BadRequest, match=f"overlaps s3://{bucket}/a, which is"):
        associate(fsx, file_system_id, f"s3://{bucket}/a/b", FileSystemPath="/other")
    with pytest.raises(fsx.exceptions.BadRequest, match="bucket does not exist"):
        associate(fsx, file_system_id, "s3://no-such-bucket-here", FileSystemPath="/other")
    with pytest.raises(fsx.exceptions.BadRequest, match=r"without \.\."):
        associate(fsx, file_system_id, f"s3://{bucket}/b", FileSystemPath="/../b")
    with pytest.raises(fsx.exceptions.BadRequest, match="SCRATCH_1 takes no"):
        associate(fsx, new_file_system("SCRATCH_1"), f"s3://{bucket}")
    with pytest.raises(fsx.exceptions.FileSystemNotFound):
        associate(fsx, "fs-00000000000000000", f"s3://{bucket}")


def test_scratch_file_system_takes_no_key_of_the_user(fsx: Any) -> None:
    with pytest.raises(fsx.exceptions.BadRequest, match="takes no KmsKeyId"):
        fsx.create_file_system(
            FileSystemType="LUSTRE",
            SubnetIds=[SUBNET],
            KmsKeyId="arn:aws:kms:us-east-1:123456789012:key/a",
            LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        )
