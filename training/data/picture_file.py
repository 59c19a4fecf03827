"""What one picture file is: its kind, size and turn, and whether it can be decoded."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.data.annotation import Frame

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "MPO": (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"),
    "PNG": (".png", ".apng"),
    "WEBP": (".webp",),
    "BMP": (".bmp", ".dib"),
    "GIF": (".gif",),
    "TIFF": (".tif", ".tiff"),
    "PPM": (".ppm", ".pgm", ".pbm", ".pnm"),
}
"""Pillow's name of a format to the ends of its files' names. Others are no photographs, or start
another program (EPS starts Ghostscript), which a picture from elsewhere must not. MPO is what
phones and cameras write: a JPEG with more pictures behind it, opened as one."""
OPENED_AS = tuple(name for name in SUFFIXES if name != "MPO")

DEEP_MODES = frozenset({"I", "I;16", "I;16L", "I;16B", "I;16N", "F"})
GREY_MODES = frozenset({"1", "L", "LA", "La"})

_ORIENTATION = 0x0112
"""EXIF's tag; 1 is upright, 5 to 8 swap width and height."""

_LARGE_PIXELS = 50_000_000
"""From here on one at a time is decoded: each takes 150 MB and more."""
_large_ones = threading.Lock()

_BEGIN_BYTES = 512
"""That tell a text from a picture."""


@dataclass(frozen=True)
class Picture:
    """What is known of a picture file.

    Attributes:
        format: Pillow's name of its format.
        mode: Pillow's name of its pixels: RGB, L (grey), CMYK, P (palette), I;16, …
        frame: Width and height as they are stored.
        orientation: EXIF's, 1 to 8; 1 is upright, 5 to 8 swap width and height.
        is_animated: It has more than one frame.
        is_transparent: It has pixels that are not opaque; None where that was not looked at.
        broken: Why it cannot be decoded to its end; None where it can, or was not tried.
    """

    format: str
    mode: str
    frame: Frame
    orientation: int = 1
    is_animated: bool = False
    is_transparent: bool | None = None
    broken: str | None = None


@dataclass(frozen=True)
class NoPicture:
    """A file that no picture can be got from, and why."""

    reason: str
    is_huge: bool = False
    """It is refused for its size: a small file may claim to be a picture that fills the memory."""


def as_opened(file: Path | bytes) -> Path | BytesIO:
    """Return a picture file, or its content, as Pillow opens it."""
    return BytesIO(file) if isinstance(file, bytes) else file


def read_picture(file: Path | bytes, *, decode: bool) -> Picture | NoPicture:
    """Return what a picture file is.

    Args:
        file: The file, or its content.
        decode: Read it to its end, too.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(as_opened(file), formats=OPENED_AS) as image:
            known = _read_header(image)
            return _decode(image, known) if decode else known
    except Image.DecompressionBombError:
        return NoPicture(_describe_bomb(file), is_huge=True)
    except UnidentifiedImageError:
        return NoPicture(_why_unidentified(file))
    except Exception as error:  # Decoders raise many kinds for broken files.
        return NoPicture(_reason(error))


@contextmanager
def quiet_about_large_ones() -> Iterator[None]:
    """Keep Pillow from warning on stderr of large pictures: they get a finding.

    The setting is the whole process's: the threads that read pictures start inside the block.
    """
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        # What Pillow says of odd tags and truncated data of EXIF and TIFF.
        warnings.simplefilter("ignore", UserWarning)
        yield


def is_large(frame: Frame) -> bool:
    """Return whether Pillow would warn of so many pixels: from about 90 million on."""
    from PIL import Image

    return frame[0] * frame[1] > (Image.MAX_IMAGE_PIXELS or 0)


def fits_name(path: str, picture_format: str) -> bool:
    """Return whether a file's name ends as those of its format do; one without end does."""
    suffix = Path(path).suffix.lower()
    known = {end for ends in SUFFIXES.values() for end in ends}
    return suffix in SUFFIXES[picture_format] or suffix not in known


def _read_header(image: Image.Image) -> Picture:
    # Pillow would decode a PNG to look for EXIF after its pixels. Of a TIFF it says the turned
    # size, and turns it itself.
    exif = image.getexif() if "exif" in image.info else {}
    orientation = exif.get(_ORIENTATION, 1)
    assert image.format is not None
    return Picture(
        format=image.format,
        mode=image.mode,
        frame=image.size,
        orientation=orientation if orientation in range(1, 9) else 1,
        is_animated=image.format != "MPO" and bool(getattr(image, "is_animated", False)),
    )


def _decode(image: Image.Image, known: Picture) -> Picture:
    from dataclasses import replace

    is_large_one = known.frame[0] * known.frame[1] > _LARGE_PIXELS
    try:
        if known.format in {"JPEG", "MPO"}:
            # An eighth of the size takes all of the file's bits through the decoder just so, and
            # saves most of the work and memory after that.
            image.draft(image.mode, (1, 1))
        if is_large_one:
            with _large_ones:
                image.load()
        else:
            image.load()
        return replace(known, is_transparent=_is_transparent(image))
    except Exception as error:  # Decoders raise many kinds for broken files.
        return replace(known, broken=_reason(error))


def _is_transparent(image: Image.Image) -> bool:
    if not image.has_transparency_data:
        return False
    alpha = image if image.mode in {"RGBA", "LA"} else image.convert("RGBA")
    lowest: Any = alpha.getchannel("A").getextrema()[0]
    return bool(lowest < 255)


def _why_unidentified(file: Path | bytes) -> str:
    if _size_of(file) == 0:
        return "empty file"
    if isinstance(file, bytes):
        begin = file[:_BEGIN_BYTES]
    else:
        with file.open("rb") as opened:
            begin = opened.read(_BEGIN_BYTES)
    if begin.lstrip()[:1] in {b"<", b"{"}:
        return "text, perhaps an error page of a download"
    return f"not a picture of a kind that is read: {', '.join(OPENED_AS)}"


def _size_of(file: Path | bytes) -> int:
    return len(file) if isinstance(file, bytes) else file.stat().st_size


def _describe_bomb(file: Path | bytes) -> str:
    from PIL import Image

    return (
        f"{_size_of(file):,} bytes that claim to be more than "
        f"{2 * (Image.MAX_IMAGE_PIXELS or 0):,} pixels"
    )


def _reason(error: Exception) -> str:
    """Return what a decoder said, on one line and without paths of this machine."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split())[:200] or type(error).__name__
