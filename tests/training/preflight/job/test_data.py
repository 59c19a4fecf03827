"""The data that a job would read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.preflight.stacks.conftest import codes_of, findings_of, only_finding_of
from training.aws.clients import Clients
from training.layout import TRAIN_PATH
from training.preflight.job.asked import S3Place
from training.preflight.job.data import DataIsMounted, DataIsOnS3, WeightsAreInTheChannel

SPLITS = ("train2017", "val2017")
WEIGHTS = {"backbone_weights": "ImageNet-R50-AlignPadding.npz"}
WHOLE = (
    "annotations/instances_train2017.json",
    "annotations/instances_val2017.json",
    "train2017/000000000001.jpg",
    "val2017/000000000002.jpg",
    "pretrained-models/ImageNet-R50-AlignPadding.npz",
    "manifest.json",
)
PLACE = S3Place("job-bucket", "ml/train")
PATH = "ml/train"
"""`channels.train`, which is not the default."""

LACKING = pytest.mark.parametrize(
    ("without", "code", "path"),
    [
        (
            "annotations/instances_val2017.json",
            "data-annotations-missing",
            "/annotations/instances_val2017.json is not there",
        ),
        (
            "train2017/000000000001.jpg",
            "data-pictures-missing",
            "/train2017 has no pictures, of split train2017",
        ),
        (
            "pretrained-models/ImageNet-R50-AlignPadding.npz",
            "weights-missing",
            "hyperparameters.backbone_weights: ImageNet-R50-AlignPadding.npz: ",
        ),
        ("manifest.json", "data-manifest-missing", " has no manifest.json, which stage writes"),
    ],
)


def on_s3(aws: Clients, *names: str) -> DataIsOnS3:
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket=PLACE.bucket)
    for name in names:
        s3.put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}/{name}")
    # What begins like a file or a folder is neither.
    for name in ("train2017x/a.jpg", "manifest.json.old"):
        s3.put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}{'-old' if not names else ''}/{name}")
    return DataIsOnS3(SPLITS, WEIGHTS, False, "s3", PATH, aws.s3, PLACE)


def mounted(folder: Path, *names: str) -> DataIsMounted:
    for name in (*names, "train2017x/a.jpg", "manifest.json.old"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return DataIsMounted(SPLITS, WEIGHTS, False, "fsx", PATH, folder)


def test_whole_data_passes(aws: Clients, tmp_path: Path) -> None:
    assert codes_of(on_s3(aws, *WHOLE)) == []
    assert codes_of(mounted(tmp_path, *WHOLE)) == []


@LACKING
def test_what_s3_lacks_is_named(aws: Clients, without: str, code: str, path: str) -> None:
    finding = only_finding_of(on_s3(aws, *[name for name in WHOLE if name != without]), code)
    assert path in finding.message
    assert "s3://job-bucket/ml/train" in finding.message
    assert finding.severity == ("warning" if code == "data-manifest-missing" else "error")


@LACKING
def test_what_a_mounted_channel_lacks_is_named(
    tmp_path: Path, without: str, code: str, path: str
) -> None:
    finding = only_finding_of(mounted(tmp_path, *[n for n in WHOLE if n != without]), code)
    assert path in finding.message
    assert str(tmp_path) in finding.message


def test_a_split_in_shards_needs_no_loose_pictures(aws: Clients, tmp_path: Path) -> None:
    packed = [
        name.replace("train2017/000000000001.jpg", "shards/train2017/index.json") for name in WHOLE
    ]
    assert codes_of(on_s3(aws, *packed)) == []
    assert codes_of(mounted(tmp_path, *packed)) == []


def test_where_there_is_nothing_it_is_said_once(aws: Clients, tmp_path: Path) -> None:
    message = only_finding_of(on_s3(aws), "data-missing").message
    assert message == (
        "there is no data at s3://job-bucket/ml/train. Copy a set there: python -m training.data "
        "stage DIR --to s3 --path ml/train"
    )
    nowhere = DataIsMounted(SPLITS, WEIGHTS, False, "fsx", PATH, tmp_path / "nowhere")
    assert codes_of(nowhere) == ["data-missing"]


def test_a_bucket_that_is_not_there_is_another_checks_finding(aws: Clients) -> None:
    assert codes_of(DataIsOnS3(SPLITS, WEIGHTS, False, "s3", PATH, aws.s3, PLACE)) == []


def test_weights_by_a_whole_path_are_looked_for_by_another_check(tmp_path: Path) -> None:
    check = mounted(tmp_path, *WHOLE)
    absolute = DataIsMounted(
        SPLITS, {"load_model": "/home/me/model.pt"}, False, "fsx", PATH, check.train
    )
    assert codes_of(absolute) == []
    found = findings_of(WeightsAreInTheChannel({"load_model": "/home/me/model.pt", **WEIGHTS}))
    assert [each.code for each in found] == ["weights-outside-containers"]
    assert found[0].path == "hyperparameters.load_model"
    inside = {"load_model": "/opt/ml/input/data/train/pretrained-models/a.pt"}
    assert codes_of(WeightsAreInTheChannel(inside)) == []


RECORDS = (
    "annotations/instances_val2017.json",
    "train2017-00000.tfrecord",
    "val2017-00000.tfrecord",
    "pretrained-models/ImageNet-R50-AlignPadding.npz",
    "manifest.json",
)


def test_where_records_are_read_the_annotations_of_what_is_evaluated_are_too(
    aws: Clients, tmp_path: Path
) -> None:
    on_s3(aws, *RECORDS)
    mounted(tmp_path, *RECORDS)
    assert codes_of(DataIsOnS3(SPLITS, WEIGHTS, True, "s3", PATH, aws.s3, PLACE)) == []
    assert codes_of(DataIsMounted(SPLITS, WEIGHTS, True, "fsx", PATH, tmp_path)) == []


def test_records_that_are_not_there_say_how_to_make_them(aws: Clients, tmp_path: Path) -> None:
    on_s3(aws, *WHOLE)
    mounted(tmp_path, *WHOLE)
    for check in (
        DataIsOnS3(SPLITS, WEIGHTS, True, "s3", PATH, aws.s3, PLACE),
        DataIsMounted(SPLITS, WEIGHTS, True, "fsx", PATH, tmp_path),
    ):
        found = findings_of(check)
        assert [each.code for each in found] == ["data-records-missing"] * 2
        assert "train2017-*.tfrecord is not there" in found[0].message
        assert found[0].message.endswith(
            "copy them there: python -m training.data pack DIR OUT --as tfrecord, then python -m "
            f"training.data stage OUT --to {check.source} --path ml/train"
        )


def test_where_the_path_is_the_default_it_is_not_repeated(tmp_path: Path) -> None:
    check = DataIsMounted(SPLITS, {}, False, "efs", TRAIN_PATH, tmp_path)
    message = only_finding_of(check, "data-missing").message
    assert message.endswith("Copy a set there: python -m training.data stage --to efs")


def test_how_weights_get_there_is_said(tmp_path: Path) -> None:
    check = mounted(tmp_path, *[name for name in WHOLE if "pretrained" not in name])
    assert only_finding_of(check, "weights-missing").message.endswith(
        "python -m training.data download DIR --what pretrained, then python -m training.data "
        "stage DIR --to fsx --path ml/train; or name another file of pretrained-models"
    )
