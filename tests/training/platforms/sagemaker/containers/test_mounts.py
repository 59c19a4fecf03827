"""Where channels are on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.platforms.sagemaker.containers.small_job import channel
from training.errors import PreflightError, TrainingError, UsageError
from training.platforms.sagemaker.containers.mounts import Mount, bring_channels


def no_copy(address: str, folder: Path) -> None:
    raise AssertionError(address)


def bring(
    root: Path, *channels: Any, copy: Callable[[str, Path], None] = no_copy
) -> tuple[Mount, ...]:
    environ = {"MASK_RCNN_MOUNTS": str(root)}
    return bring_channels({"InputDataConfig": channels}, environ=environ, here=root, copy=copy)


def on_s3(distribution: str = "FullyReplicated") -> dict[str, Any]:
    source = {"S3Uri": "s3://bucket/some/train/", "S3DataDistributionType": distribution}
    return {"ChannelName": "train", "DataSource": {"S3DataSource": source}}


def test_a_file_system_is_its_mount_and_a_log_folder_need_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "fs-0ef50ef5/in").mkdir(parents=True)
    train, log = bring(tmp_path, channel("train", "ro", "/in"), channel("log", "rw", "/out/log-1"))
    assert train.argument == f"{tmp_path}/fs-0ef50ef5/in:/opt/ml/input/data/train:ro"
    assert log.argument == f"{tmp_path}/fs-0ef50ef5/out/log-1:/opt/ml/input/data/log:rw"
    assert not log.folder.exists()


def test_lustre_leaves_out_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "fs-0ef50ef5/data/in").mkdir(parents=True)
    (train,) = bring(tmp_path, channel("train", "ro", "/abcdefgh/data/in", "FSxLustre"))
    assert train.folder == tmp_path / "fs-0ef50ef5/data/in"


def test_s3_is_copied_once_to_where_platform_local_has_it(tmp_path: Path) -> None:
    copied: list[tuple[str, Path]] = []
    (train,) = bring(tmp_path, on_s3(), copy=lambda *given: copied.append(given))
    folder = tmp_path / "runs/input/bucket/some/train"
    assert copied == [("s3://bucket/some/train", folder)]
    assert train == Mount(folder, "/opt/ml/input/data/train", writable=False)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (channel("train", "ro", "/in"), PreflightError, "fs-0ef50ef5/in: there is no such folder"),
        (on_s3("ShardedByS3Key"), UsageError, "leave it at FullyReplicated"),
    ],
)
def test_what_containers_here_cannot_have(
    given: Any, error: type[TrainingError], text: str, tmp_path: Path
) -> None:
    (tmp_path / "fs-0ef50ef5").mkdir()
    with pytest.raises(error, match=text):
        bring(tmp_path, given)


def test_a_file_system_that_is_not_mounted_here(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="fs-0ef50ef5 is not mounted on this machine"):
        bring(tmp_path, channel("train", "ro", "/in"))


def test_a_colon_in_a_path_would_be_read_as_the_end_of_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has a colon"):
        bring(tmp_path / "a:b", on_s3(), copy=lambda *_: None)
