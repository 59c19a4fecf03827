"""FSx through its API: file systems as folders, linked to a bucket."""

from __future__ import annotations

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


def run(fsx: Any, file_system_id: str, kind: str, *paths: str) -> dict[str, Any]:
    """Run a task and wait for its end."""
    task = fsx.create_data_repository_task(
        Type=kind, FileSystemId=file_system_id, Paths=list(paths), Report={"Enabled": False}
    )["DataRepositoryTask"]
    deadline = time.monotonic() + 20
    while task["Lifecycle"] in ("PENDING", "EXECUTING") and time.monotonic() < deadline:
        time.sleep(0.05)
        found = fsx.describe_data_repository_tasks(TaskIds=[task["TaskId"]])
        (task,) = found["DataRepositoryTasks"]
    result: dict[str, Any] = task
    return result


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
