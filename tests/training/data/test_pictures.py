from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from training.data.check import check_dataset, examine
from training.data.files_below import files_below
from training.data.splits import find_splits
from training.layout import TrainChannel
from training.preflight.finding import Finding

WriteSet = Callable[[Any], TrainChannel]


def check(channel: TrainChannel) -> dict[str, Finding]:
    return {finding.code: finding for finding in check_dataset(channel, ["train2017"])}


def save_turned(path: Path, size: tuple[int, int], orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", size).save(path, exif=exif)


def test_missing_pictures_are_one_finding_with_count_and_names(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    for number in range(398):
        document["images"].append(
            {"id": 10 + number, "file_name": f"{number:03d}.jpg", "width": 4, "height": 3}
        )
    found = check(write_set(document))
    assert list(found) == ["image-missing"]
    assert found["image-missing"].message.startswith("398 pictures that the annotations name")
    assert "'000.jpg'; '001.jpg'; '002.jpg'; and 395 more" in found["image-missing"].message
    assert found["image-missing"].path.endswith("train2017")


def test_a_picture_of_another_size_is_told_with_both_sizes(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    Image.new("RGB", (30, 40)).save(channel.images("train2017") / "a.jpg")
    finding = check(channel)["image-size"]
    assert "'a.jpg' is 30 x 40, annotations say 40 x 30" in finding.message
    assert finding.severity == "error"


def test_a_size_that_fits_once_exif_turns_the_picture_says_so(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    save_turned(channel.images("train2017") / "a.jpg", (30, 40), 6)
    assert "turned by EXIF orientation 6" in check(channel)["image-size"].message


@pytest.mark.parametrize(("orientation", "code"), [(3, "image-turn-unclear"), (6, "image-rotated")])
def test_an_exif_rotation_of_a_picture_that_fits_is_a_warning(
    orientation: int, code: str, write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    save_turned(channel.images("train2017") / "a.jpg", (40, 30), orientation)
    found = check(channel)
    assert list(found) == [code]
    assert found[code].severity == "warning"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty file"),
        (b"<html>404</html>", "text, perhaps an error page of a download"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "not a picture of a kind that is read: JPEG, PNG"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", ""),
        (b"\x89PNG\r\n\x1a\n\x00\x00", ""),
        (b"GIF89a", ""),
        (b"BM" + b"\x00" * 20, ""),
    ],
)
def test_what_is_no_picture_is_named_with_the_reason(
    content: bytes, says: str, write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    (channel.images("train2017") / "b.jpg").write_bytes(content)
    found = check(channel)
    assert list(found) == ["image-unreadable"]
    assert "'b.jpg' (" in found["image-unreadable"].message
    assert says in found["image-unreadable"].message


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/passwd", "a//b.jpg", "a\0b"])
def test_a_file_name_that_leaves_the_folder_is_not_opened(
    name: str, write_set: WriteSet, document: dict[str, Any]
) -> None:
    document["images"].append({"id": 3, "file_name": name, "width": 4, "height": 3})
    assert list(check(write_set(document))) == ["image-file-name"]


def test_pictures_in_folders_of_the_split_are_found(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    document["images"][0]["file_name"] = "0/a.jpg"
    channel = write_set(document)
    folder = channel.images("train2017")
    (folder / "0").mkdir()
    (folder / "a.jpg").rename(folder / "0" / "a.jpg")
    assert check(channel) == {}


def test_a_missing_picture_folder_is_one_finding(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    for path in channel.images("train2017").iterdir():
        path.unlink()
    channel.images("train2017").rmdir()
    found = check(channel)
    assert list(found) == ["images-missing"]
    assert "name 2 pictures" in found["images-missing"].message


@pytest.mark.parametrize(
    ("name", "save", "code", "severity"),
    [
        ("a.jpg", lambda path: Image.new("CMYK", (40, 30)).save(path), "image-cmyk", "warning"),
        ("a.png", lambda path: Image.new("I;16", (40, 30)).save(path), "image-deep", "error"),
        (
            "a.png",
            lambda path: Image.new("RGBA", (40, 30)).save(path),
            "image-transparent",
            "warning",
        ),
        (
            "a.jpg",
            lambda path: Image.new("RGB", (40, 30)).save(path, format="PNG"),
            "image-extension",
            "warning",
        ),
        (
            "a.jpg",
            lambda path: path.write_bytes(path.read_bytes()[:-20]),
            "image-broken",
            "error",
        ),
    ],
)
def test_each_oddity_of_a_picture_is_the_one_finding_of_its_code(
    *,
    name: str,
    save: Callable[[Path], Any],
    code: str,
    severity: str,
    write_set: WriteSet,
    document: dict[str, Any],
) -> None:
    document["images"][0]["file_name"] = name
    channel = write_set(document)
    folder = channel.images("train2017")
    (folder / "a.jpg").rename(folder / name)
    save(folder / name)
    health = examine(find_splits(channel.root))
    assert [(one.code, one.severity) for one in health.findings] == [(code, severity)]


def test_grey_and_palette_pictures_are_counted_and_no_fault(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    Image.new("L", (40, 30)).save(channel.images("train2017") / "a.jpg")
    (split,) = examine(find_splits(channel.root)).splits
    assert list(split.findings()) == []
    assert split.counts is not None
    assert split.counts.kinds == {"JPEG grey": 1, "JPEG RGB": 1}


def test_files_that_no_entry_names_are_told_of_but_hidden_ones(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    folder = channel.images("train2017")
    (folder / "sub").mkdir()
    for name in ("z.jpg", "sub/y.jpg", ".DS_Store", "sub/.nfs1"):
        (folder / name).write_bytes(b"x")
    (finding,) = check(channel).values()
    assert (finding.code, finding.severity) == ("image-extra", "info")
    assert finding.message.startswith("2 files that no entry of images names: 'sub/y.jpg'; 'z.jpg'")


def test_splits_that_share_a_folder_do_not_call_each_others_pictures_extra(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set({**document, "images": document["images"][:1]})
    channel.images("train2017").rename(channel.root / "images")
    other = {**document, "images": document["images"][1:]}
    channel.annotations("val2017").write_text(json.dumps(other))
    health = examine(find_splits(channel.root))
    assert "image-extra" not in [finding.code for finding in health.findings]


def test_a_link_back_to_the_folder_is_walked_once(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    (channel.images("train2017") / "again").symlink_to("..", target_is_directory=True)
    codes = [one.code for one in examine(find_splits(channel.root)).findings]
    assert codes == []


def test_links_that_lead_nowhere_or_to_themselves_are_no_pictures(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    folder = write_set(document).images("train2017")
    for name, target in {"self": "self", "gone": "nothing", "up": "..", "x": "a.jpg/x"}.items():
        (folder / name).symlink_to(target)
    assert files_below(folder) >= {"a.jpg", "b.jpg"}
    assert not {"self", "gone", "x"} & files_below(folder)


def test_pictures_are_found_by_each_of_two_links_to_their_folder(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/a.jpg").write_bytes(b"")
    (tmp_path / "set").mkdir()
    for name in ("one", "two"):
        (tmp_path / "set" / name).symlink_to(tmp_path / "there")
    assert files_below(tmp_path / "set") == {"one/a.jpg", "two/a.jpg"}


def test_a_folder_that_may_not_be_read_is_named(
    write_set: WriteSet, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = write_set(document)
    locked = channel.images("train2017") / "locked"
    locked.mkdir()
    scandir = os.scandir

    def refuse(folder: Any) -> Any:
        if Path(folder) == locked:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    finding = check(channel)["images-unreadable"]
    assert (finding.path, finding.message) == (str(locked), "cannot be read (Permission denied)")
