"""Staging with s5cmd, the real program where it is to work and a false one where it is not."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.training.data.conftest import S3
from tests.training.data.test_s5cmd import NAMES, program_for
from training.data import bulk_upload
from training.data.bucket import JOURNAL, Bucket
from training.data.bulk import S5cmdBulk
from training.data.bulk_download import ASIDE
from training.data.digest import SINGLE_PART_BYTES
from training.data.folder import Folder
from training.data.lock import Tell
from training.data.manifest import MANIFEST
from training.data.progress import SILENT
from training.data.s5cmd import Arrived, Refused, S5cmd
from training.data.side import ContentChanged, Side
from training.data.stage import Manner, Staged, list_source, stage
from training.data.verify import verify
from training.errors import JobFailed

FILES = {f"train2017/{number:02d}.jpg": b"%d" % number * 100 for number in range(30)} | {
    "annotations/train.json": b"{}",
    "loose.txt": b"loose",
}

Event = Arrived | Refused


class FalseProgram:
    """Passes commands on to a function."""

    def __init__(self, act: Callable[[list[str]], Iterator[Event]]) -> None:
        self._act = act
        self.runs: list[list[str]] = []

    def run(self, lines: Iterable[str], *, bucket: str, workers: int) -> Iterator[Event]:
        self.runs.append(list(lines))
        yield from self._act(self.runs[-1])


def bulk_of(program: object) -> S5cmdBulk:
    return S5cmdBulk(cast(S5cmd, program))


@pytest.fixture
def real(s3: S3) -> S5cmd:
    return program_for(s3)


@pytest.fixture
def source(tmp_path: Path) -> Folder:
    return write(tmp_path / "source", FILES)


@pytest.fixture
def bucket(s3: S3) -> Bucket:
    return Bucket(s3.client, s3.bucket, "data/train")


@pytest.fixture
def target(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "target")


def write(root: Path, files: dict[str, bytes]) -> Folder:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return Folder(root)


def read(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def copy(
    origin: Side, target: Side, program: object, tell: Tell = print, *, delete: bool = False
) -> Staged:
    manner = Manner(jobs=4, bulk=bulk_of(program), delete=delete, tell=tell)
    return stage(origin, target, list_source(origin), manner)


def differences(left: Side, right: Side) -> list[Any]:
    return verify(left, right, left.files(), right.files(), jobs=4, progress=SILENT)


def again(bucket: Bucket) -> Bucket:
    """The same place, seen by another process."""
    return Bucket(bucket._client, bucket.bucket, bucket._prefix)


def refuse_all(_: list[str]) -> Iterator[Event]:
    yield Refused("out of order")


def test_a_set_goes_to_s3_and_back_by_s5cmd_alone(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd, s3: S3
) -> None:
    calls: list[str] = []
    s3.client.meta.events.register("before-call.s3", lambda model, **_: calls.append(model.name))
    assert copy(source, bucket, real).copied_files == len(FILES)
    assert copy(again(bucket), target, real).copied_files == len(FILES)
    # Listings before and after, and the manifest.
    assert set(calls) == {"ListObjectsV2", "GetObject", "PutObject"}
    assert (calls.count("PutObject"), calls.count("GetObject")) == (1, 1)
    found = read(target.root)
    del found[MANIFEST]
    assert found == FILES
    assert differences(source, bucket) == differences(bucket, target) == []


def test_the_manifest_has_sha256_and_etag_whoever_copied(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd
) -> None:
    copy(source, bucket, real)
    copy(again(bucket), target, real)
    expected = {
        path: (
            len(content),
            hashlib.sha256(content).hexdigest(),
            hashlib.md5(content).hexdigest(),
        )
        for path, content in FILES.items()
    }
    for side in (bucket, target):
        manifest = side.read_manifest()
        assert manifest
        assert {e.path: (e.size, e.sha256, e.etag) for e in manifest.files} == expected


def test_odd_names_and_large_files_arrive_with_the_others(
    tmp_path: Path, bucket: Bucket, target: Folder, real: S5cmd
) -> None:
    files = {f"d/{name}": name.encode() for name in NAMES}
    files["d/large"] = os.urandom(SINGLE_PART_BYTES + 1)
    source = write(tmp_path / "s*urce", files)
    copy(source, bucket, real)
    copy(again(bucket), target, real)
    found = read(target.root)
    del found[MANIFEST]
    assert found == files


def test_what_is_there_is_not_copied_again_and_what_differs_is(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd
) -> None:
    copy(source, bucket, real)
    copy(again(bucket), target, real)
    (source.root / "train2017/05.jpg").write_bytes(b"other" * 20)
    assert copy(source, again(bucket), real).copied_files == 1
    assert copy(again(bucket), target, real).copied_files == 1
    assert (target.root / "train2017/05.jpg").read_bytes() == b"other" * 20


def test_objects_without_a_manifest_are_known_by_their_md5(
    source: Folder, bucket: Bucket, real: S5cmd, s3: S3
) -> None:
    copy(source, bucket, real)
    s3.client.delete_object(Bucket=s3.bucket, Key="data/train/manifest.json")
    s3.client.delete_object(Bucket=s3.bucket, Key="data/train/loose.txt")
    assert copy(source, again(bucket), real).copied_files == 1


def test_without_a_program_that_works_all_goes_one_by_one_and_it_is_told(
    source: Folder, bucket: Bucket, target: Folder
) -> None:
    told: list[str] = []
    program = FalseProgram(refuse_all)
    copy(source, bucket, program, told.append)
    copy(again(bucket), target, program, told.append)
    assert len(program.runs) == 2
    assert told == [f"s5cmd left out {len(FILES)} files, which are tried again: out of order"] * 2
    assert differences(source, target) == []


def test_files_that_failed_are_tried_again_as_long_as_some_arrive(
    source: Folder, bucket: Bucket, real: S5cmd
) -> None:
    def half(lines: list[str]) -> Iterator[Event]:
        yield from real.run(lines[: len(lines) // 2 + 1], bucket=bucket.bucket, workers=4)
        yield Refused("ExpiredToken")

    program = FalseProgram(half)
    copy(source, bucket, program)
    assert [len(lines) for lines in program.runs] == [3, 1]
    assert differences(source, bucket) == []


def test_a_source_that_changes_while_s5cmd_copies_is_found(
    source: Folder, bucket: Bucket, real: S5cmd
) -> None:
    def change(lines: list[str]) -> Iterator[Event]:
        yield from real.run(lines, bucket=bucket.bucket, workers=4)
        (source.root / "loose.txt").write_bytes(b"LOOSE")

    with pytest.raises(ContentChanged, match=r"loose\.txt"):
        copy(source, bucket, FalseProgram(change))
    assert bucket.read_manifest() is None


def test_a_file_that_is_not_as_its_manifest_says_does_not_go_to_s3(
    source: Folder, bucket: Bucket, tmp_path: Path, real: S5cmd
) -> None:
    first = Folder(tmp_path / "first")
    copy(source, first, real)
    (first.root / "loose.txt").write_bytes(b"l00se")
    with pytest.raises(JobFailed, match=r"loose\.txt' has SHA-256 .*, its manifest says"):
        copy(first, bucket, real)
    assert bucket.files() == {}


def downloads(lines: list[str], content: Callable[[str], bytes]) -> Iterator[Event]:
    """Do what s5cmd does for the commands of one file each."""
    for line in lines:
        destination = line.split("'")[3]
        Path(destination).parent.mkdir(parents=True, exist_ok=True)
        Path(destination).write_bytes(content(destination.partition(f"{ASIDE}/")[2]))
        yield Arrived(destination)


@pytest.mark.parametrize("with_manifest", [True, False])
@pytest.mark.parametrize("wrong", [b"l00se", b"too long", b""])
def test_a_download_with_wrong_bytes_is_found_and_done_again(
    wrong: bytes, with_manifest: bool, bucket: Bucket, s3: S3, tmp_path: Path
) -> None:
    target = Folder(tmp_path / "target")
    files = {"loose.txt": b"loose", "other.txt": b"other"}
    copy(write(tmp_path / "few", files), bucket, FalseProgram(refuse_all))
    if not with_manifest:
        s3.client.delete_object(Bucket=s3.bucket, Key="data/train/manifest.json")
        # As another program would have uploaded it: S3 has no SHA-256.
        s3.client.put_object(Bucket=s3.bucket, Key="data/train/loose.txt", Body=b"loose")

    def act(lines: list[str]) -> Iterator[Event]:
        yield from downloads(lines, lambda path: {**files, "loose.txt": wrong}[path])

    copy(again(bucket), target, FalseProgram(act))
    assert (target.root / "loose.txt").read_bytes() == b"loose"
    assert not (target.root / ASIDE).exists()


def test_what_a_killed_download_left_is_taken_if_it_is_right(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd
) -> None:
    copy(source, bucket, real)
    write(
        target.root / ASIDE,
        {
            "train2017/00.jpg": FILES["train2017/00.jpg"],
            "train2017/01.jpg": b"?" * 100,
            "train2017/02.jpg123456": b"half",
            "elsewhere": b"x",
        },
    )
    asked: list[str] = []

    def noting(lines: list[str]) -> Iterator[Event]:
        asked.extend(lines)
        yield from real.run(lines, bucket=bucket.bucket, workers=4)

    copy(again(bucket), target, FalseProgram(noting))
    text = "\n".join(asked)
    assert "00.jpg" not in text
    assert "01.jpg" in text
    found = read(target.root)
    del found[MANIFEST]
    assert found == FILES


def make_etags_opaque(s3: S3) -> None:
    """As with a KMS key, where an ETag tells nothing of the content."""

    def hidden(etag: str) -> str:
        return f'"{hashlib.sha256(etag.encode()).hexdigest()[:32]}"'

    def hide(parsed: dict[str, Any], **_: Any) -> None:
        for found in parsed.get("Contents", ()):
            found["ETag"] = hidden(found["ETag"])

    def hide_one(parsed: dict[str, Any], **_: Any) -> None:
        parsed.update(ETag=hidden(parsed["ETag"]), ServerSideEncryption="aws:kms")

    s3.client.meta.events.register("after-call.s3.ListObjectsV2", hide)
    s3.client.meta.events.register("after-call.s3.HeadObject", hide_one)


def test_in_a_bucket_with_a_kms_key_a_killed_upload_goes_on_by_its_journal(
    source: Folder, bucket: Bucket, real: S5cmd, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_etags_opaque(s3)
    monkeypatch.setattr(bulk_upload, "JOURNAL_EVERY_S", 0.0)
    monkeypatch.setattr(bulk_upload, "JOURNAL_SHARE", 1e9)

    def break_off(lines: list[str]) -> Iterator[Event]:
        for number, event in enumerate(real.run(lines, bucket=bucket.bucket, workers=1)):
            if number == 20:
                raise KeyboardInterrupt
            yield event

    with pytest.raises(KeyboardInterrupt):
        copy(source, bucket, FalseProgram(break_off))
    assert s3.client.get_object(Bucket=s3.bucket, Key=f"data/train/{JOURNAL}")
    second = again(bucket)
    assert copy(source, second, real).copied_files == len(FILES) - 20
    keys = [item["Key"] for item in s3.client.list_objects_v2(Bucket=s3.bucket)["Contents"]]
    assert f"data/train/{JOURNAL}" not in keys
    assert copy(source, again(bucket), real).copied_files == 0


def test_what_the_source_lacks_is_deleted_only_when_asked(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd
) -> None:
    extra = {"train2017/old.jpg": b"old", "gone/deep/x": b"x"}
    copy(write(source.root, extra), bucket, real)
    copy(again(bucket), target, real)
    for path in extra:
        (source.root / path).unlink()
    assert copy(source, again(bucket), real).extra_files == 2
    staged = copy(source, again(bucket), real, delete=True)
    assert (staged.deleted_files, staged.extra_files) == (2, 0)
    assert bucket.files().keys() == FILES.keys()
    assert copy(again(bucket), target, real, delete=True).deleted_files == 2
    assert not (target.root / "gone").exists()
    assert target.files().keys() == FILES.keys()


def test_nothing_outside_is_deleted_through_a_link(
    source: Folder, target: Folder, tmp_path: Path, real: S5cmd
) -> None:
    write(tmp_path / "precious", {"x": b"x"})
    target.root.mkdir()
    (target.root / "link").symlink_to(tmp_path / "precious")
    with pytest.raises(Exception, match="a link leads out of"):
        copy(source, target, real, delete=True)
    assert (tmp_path / "precious/x").exists()


def test_a_second_copy_of_the_same_waits_and_reads_nothing_again(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(source, bucket, real)
    go = threading.Event()

    def wait(lines: list[str]) -> Iterator[Event]:
        assert go.wait(10)
        yield from real.run(lines, bucket=bucket.bucket, workers=4)

    done: list[Staged] = []
    told: list[str] = []
    first = threading.Thread(
        target=lambda: done.append(copy(again(bucket), target, FalseProgram(wait)))
    )
    first.start()
    while not (target.root / ".partial/lock").exists():
        time.sleep(0.01)

    def tell(text: str) -> None:
        told.append(text)
        go.set()

    never, same_target = FalseProgram(refuse_all), Folder(target.root)
    monkeypatch.setattr(same_target, "digest", None)
    second = copy(again(bucket), same_target, never, tell)
    first.join()
    assert never.runs == []
    assert "waiting for another copy into this folder" in told[0]
    assert (second.copied_files, second.manifest) == (0, done[0].manifest)


@pytest.mark.parametrize("kind", ["link out", "link to a file", "link to nothing", "pipe"])
def test_what_lies_aside_and_is_no_file_of_s5cmd_is_thrown_away(
    kind: str, source: Folder, bucket: Bucket, tmp_path: Path, real: S5cmd
) -> None:
    target = Folder(tmp_path / "target")
    copy(source, bucket, real)
    outside = write(tmp_path / "outside", {"precious": b"x"}).root
    aside = write(target.root / ASIDE, {"loose.txt": b"loose"}).root
    if kind == "pipe":
        os.mkfifo(aside / "annotations")
    else:
        places = {"link out": outside, "link to a file": outside / "precious"}
        (aside / "train2017").symlink_to(places.get(kind, outside / "nothing"))
    copy(again(bucket), target, real)
    found = read(target.root)
    del found[MANIFEST]
    assert found == FILES
    assert read(outside) == {"precious": b"x"}
    assert not (target.root / "train2017").is_symlink()


def test_a_folder_that_is_moved_brings_no_empty_ones_of_an_earlier_copy(
    source: Folder, bucket: Bucket, target: Folder, real: S5cmd
) -> None:
    copy(source, bucket, real)
    (target.root / ASIDE / "train2017/old/older").mkdir(parents=True)
    copy(again(bucket), target, real)
    assert sorted(path.name for path in target.root.rglob("*") if path.is_dir()) == [
        "annotations",
        "train2017",
    ]
