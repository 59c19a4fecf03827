from __future__ import annotations

from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from training.errors import UsageError
from training.maskrcnn.data.pictures import BrokenPicture
from training.maskrcnn.photos import Opening, Photo, find_photos, unique

UPRIGHT = Opening(as_stored=False, short_side=64, max_side=96)
STORED = Opening(as_stored=True, short_side=64, max_side=96)


def picture(path: Path, size: tuple[int, int] = (40, 20), **saved: object) -> Photo:
    """Write a picture that is dark but for a white right half."""
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    pixels[:, size[0] // 2 :] = 255
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **saved)  # type: ignore[arg-type]
    return Photo(path, path.name)


def test_folders_are_searched_and_each_picture_is_taken_once(tmp_path: Path) -> None:
    for name in ("a/2.jpg", "a/1.PNG", "a/sub/1.jpg", "a/.hidden.jpg", "a/.git/3.jpg", "b/2.jpg"):
        picture(tmp_path / name)
    picture(tmp_path / "a/out/pictures/1.jpg")
    (tmp_path / "a/notes.txt").write_text("no picture")
    (tmp_path / "odd.name").write_bytes((tmp_path / "a/2.jpg").read_bytes())
    places = [tmp_path / name for name in ("a", "b", "a/2.jpg", "odd.name")]
    found = find_photos(places, output=tmp_path / "a/out")
    assert [(photo.path.relative_to(tmp_path).as_posix(), photo.name) for photo in found] == [
        ("a/1.PNG", "1.PNG"),
        ("a/2.jpg", "2.jpg"),
        ("a/sub/1.jpg", "sub/1.jpg"),
        ("b/2.jpg", "2-2.jpg"),
        ("odd.name", "odd.name"),
    ]


def test_drawings_in_the_very_folder_that_is_searched_are_left_out(tmp_path: Path) -> None:
    for name in ("1.jpg", "pictures/1.jpg", "sub/pictures/2.jpg"):
        picture(tmp_path / name)
    found = [photo.name for photo in find_photos([tmp_path], output=tmp_path)]
    assert found == ["1.jpg", "sub/pictures/2.jpg"]


def test_a_place_without_pictures_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none: no such file or folder"):
        find_photos([tmp_path / "none"], output=tmp_path / "out")
    with pytest.raises(UsageError, match=r"no picture in it; their names end with .*\.jpg"):
        find_photos([tmp_path], output=tmp_path / "out")


@given(st.lists(st.sampled_from(["a.jpg", "A.jpg", "a-2.jpg", "b/a.jpg", "a"]), max_size=12))
def test_names_are_never_given_twice(names: list[str]) -> None:
    taken: set[str] = set()
    given_out = [unique(name, taken) for name in names]
    assert len({name.casefold() for name in given_out}) == len(names)
    for name, free in zip(names, given_out, strict=True):
        assert PurePosixPath(free).parent == PurePosixPath(name).parent
        assert PurePosixPath(free).suffix == PurePosixPath(name).suffix


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_is_turned_as_its_exif_says_and_frame_and_pixels_agree(
    orientation: int, tmp_path: Path
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo = picture(tmp_path / "turned.jpg", (400, 200), exif=exif, quality=95)
    frame = UPRIGHT.frame_of(photo)
    assert frame == ((200, 400) if orientation < 5 else (400, 200))
    scaled = UPRIGHT.scaled(photo, frame)
    whole = np.asarray(UPRIGHT.whole(photo)).astype(float)
    assert scaled.shape == ((3, 48, 96) if orientation < 5 else (3, 96, 48))
    assert whole.shape[:2] == frame
    # Which half is white.
    halves = {1: "right", 2: "left", 3: "left", 4: "right", 5: "low", 6: "low", 7: "top", 8: "top"}
    height, width = frame
    is_white = {
        "right": whole[:, width // 2 + 8 :].mean() > 240,
        "left": whole[:, : width // 2 - 8].mean() > 240,
        "low": whole[height // 2 + 8 :].mean() > 240,
        "top": whole[: height // 2 - 8].mean() > 240,
    }
    assert [side for side, white in is_white.items() if white] == [halves[orientation]]
    assert STORED.frame_of(photo) == (200, 400)
    assert np.asarray(STORED.whole(photo))[:, 250:].mean() > 240


@pytest.mark.parametrize("mode", ["L", "1", "CMYK", "P", "I;16", "RGBA", "LA"])
def test_any_kind_of_pixels_becomes_rgb_as_a_person_sees_it(mode: str, tmp_path: Path) -> None:
    grey = Image.fromarray(np.tile(np.arange(0, 250, 10, np.uint8), (20, 1)))
    if mode == "I;16":
        image = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    else:
        image = grey.convert("RGB").convert(mode) if mode != "L" else grey
    path = tmp_path / ("picture.jpg" if mode == "CMYK" else "picture.png")
    image.save(path)
    photo = Photo(path, path.name)
    whole = UPRIGHT.whole(photo)
    assert (whole.mode, whole.size) == ("RGB", (25, 20))
    pixels = np.asarray(whole).astype(int)
    assert pixels[0, 0].max() < 30
    assert pixels[0, -1].min() > 200
    if mode in {"I;16", "L", "RGBA"}:
        assert np.abs(pixels[0, :, 0] - np.arange(0, 250, 10)).max() <= 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty file"), (b"<html>", "text, perhaps"), (b"%PDF-1.4 ", "not a picture of a kind")],
)
def test_what_is_no_picture_is_named_with_its_reason(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(content)
    with pytest.raises(BrokenPicture, match=f"bad.jpg: {reason}"):
        UPRIGHT.frame_of(Photo(path, path.name))


def test_a_picture_too_large_to_be_safe_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    Image.new("1", (20_000, 20_000)).save(path)
    with pytest.raises(BrokenPicture, match="claim to be more than"):
        UPRIGHT.frame_of(Photo(path, path.name))
