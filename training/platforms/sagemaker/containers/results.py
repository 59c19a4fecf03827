"""What a job leaves on S3, as SageMaker writes it there.

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-output.html
https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.platforms.copied_data import bucket_and_key
from training.platforms.sagemaker.containers.folders import HostFolders

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def keep_results(
    client: S3Client,
    body: Mapping[str, Any],
    hosts: Sequence[HostFolders],
    work: Path,
    *,
    failed: bool,
) -> list[str]:
    """Upload what the containers left, of all hosts in one archive, and return the addresses.

    A job that failed has no model: SageMaker uploads none either.

    Args:
        client: Of S3.
        body: The request.
        hosts: Their folders, the head's first; of files of one name, the first is taken.
        work: Where the archives are made.
        failed: Whether the job failed.
    """
    place = f"{body['OutputDataConfig']['S3OutputPath'].rstrip('/')}/{body['TrainingJobName']}"
    archives = {"output.tar.gz": [host.data for host in hosts]}
    if not failed:
        archives["model.tar.gz"] = [host.model for host in hosts]
    written = []
    for name, folders in archives.items():
        if files := _merged(folders):
            written.append(f"{place}/output/{name}")
            _upload(client, _archive(work / name, files), written[-1])
    if "TensorBoardOutputConfig" in body:
        root = f"{body['TensorBoardOutputConfig']['S3OutputPath'].rstrip('/')}"
        for path, file in _merged([host.tensorboard for host in hosts]).items():
            _upload(client, file, f"{root}/{body['TrainingJobName']}/tensorboard-output/{path}")
    return written


def bring_checkpoints(client: S3Client, address: str, hosts: Sequence[HostFolders]) -> set[str]:
    """Copy what is there from S3 to each host, and return its paths."""
    bucket, prefix = _place(address)
    found = set()
    for key in _keys(client, bucket, prefix):
        path = key.removeprefix(prefix)
        found.add(path)
        for host in hosts:
            target = host.checkpoints / path
            target.parent.mkdir(parents=True, exist_ok=True)
            client.download_file(bucket, key, str(target))
    return found


def keep_checkpoints(
    client: S3Client, address: str, hosts: Sequence[HostFolders], brought: set[str]
) -> None:
    """Copy what the hosts have to S3; what they had from there and deleted goes there too."""
    bucket, prefix = _place(address)
    files = _merged([host.checkpoints for host in hosts])
    for path, file in files.items():
        _upload(client, file, f"s3://{bucket}/{prefix}{path}")
    for path in brought - files.keys():
        client.delete_object(Bucket=bucket, Key=f"{prefix}{path}")


def has_checkpoints(client: S3Client, address: str) -> bool:
    """Return whether another run has left something there."""
    bucket, prefix = _place(address)
    return next(iter(_keys(client, bucket, prefix)), None) is not None


def _place(address: str) -> tuple[str, str]:
    bucket, key = bucket_and_key(address)
    return bucket, f"{key.strip('/')}/"


def _keys(client: S3Client, bucket: str, prefix: str) -> Iterator[str]:
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    for page in pages:
        for found in page.get("Contents", ()):
            if not found["Key"].endswith("/"):
                yield found["Key"]


def _merged(folders: Sequence[Path]) -> dict[str, Path]:
    """Return path below its folder -> file, of all folders."""
    files: dict[str, Path] = {}
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                files.setdefault(file.relative_to(folder).as_posix(), file)
    return files


def _archive(target: Path, files: Mapping[str, Path]) -> Path:
    # The lowest level: weights hardly get smaller, and a model is large.
    with tarfile.open(target, "w:gz", compresslevel=1) as archive:
        for path, file in files.items():
            archive.add(file.resolve(), arcname=path)
    return target


def _upload(client: S3Client, file: Path, address: str) -> None:
    """Upload one file; S3 compares what it got with the checksum that is sent along."""
    client.upload_file(
        str(file), *bucket_and_key(address), ExtraArgs={"ChecksumAlgorithm": "SHA256"}
    )
