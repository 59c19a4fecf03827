from __future__ import annotations

import hashlib
import os
import shutil
import string
import tempfile
from collections import namedtuple
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.data.conftest import S3
from training.data.bucket import Bucket
from training.data.folder import Folder
from training.data.paths import problem_of_path
from training.data.progress import SILENT
from training.data.side import ContentChanged, Side
from training.data.stage import Manner, Staged, list_source
from training.data.stage import stage as stage_files
from training.data.verify import verify as verify_files
from training.errors import JobFailed, PreflightError, UsageError

FILES = {
    "train2017/a.jpg": b"picture a",
    "train2017/ü b+#%25.jpg": b"picture b",
    "annotations/instances_train2017.json": b"{}" * 1000,
    "empty": b"",
}


@pytest.fixture
def source(tmp_path: Path) -> Folder:
    write(tmp_path / "source", FILES)
    return Folder(tmp_path / "source")


@pytest.fixture
def target(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "target")


def write(root: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def read(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def stage(source: Side, target: Side, progress: object = None) -> Staged:
    reporter = progress or SILENT
    manner = Manner(jobs=4, progress=reporter)  # type: ignore[arg-type]
    return stage_files(source, target, list_source(source), manner)


def verify(left: Side, right: Side) -> list[str]:
    found = verify_files(left, right, left.files(), right.files(), jobs=4, progress=SILENT)
    return [f"{difference.kind} {difference.path}" for difference in found]


class DoOnce:
    """Progress that does something when the first bytes have been copied."""

    def __init__(self, action: object) -> None:
        self._action = action
        self._done = False

    def advance(self, amount: int) -> None:
        if not self._done:
            self._done = True
            self._action()  # type: ignore[operator]


def test_a_set_goes_from_a_folder_through_s3_to_a_file_system_unchanged(
    source: Folder, target: Folder, s3: S3
) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    assert stage(source, bucket).copied_files == len(FILES)
    assert stage(bucket, target).copied_files == len(FILES)
    copied = read(target.root)
    del copied["manifest.json"]
    assert copied == FILES
    assert verify(source, bucket) == verify(bucket, target) == verify(source, target) == []


def test_the_manifest_has_path_size_sha256_and_etag_of_every_file(
    source: Folder, target: Folder, s3: S3
) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    stage(source, bucket)
    stage(bucket, target)
    expected = {
        path: (len(content), hashlib.sha256(content).hexdigest(), bucket.files()[path].version)
        for path, content in FILES.items()
    }
    for side in (bucket, target):
        manifest = side.read_manifest()
        assert manifest
        assert {e.path: (e.size, e.sha256, e.etag) for e in manifest.files} == expected


def test_a_second_copy_copies_nothing(source: Folder, target: Folder, s3: S3) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    for left, right in ((source, bucket), (bucket, target), (target, bucket)):
        stage(left, right)
        again = stage(left, right)
        assert (again.copied_files, again.files) == (0, len(FILES))


def test_what_an_interrupted_upload_left_is_not_sent_again(source: Folder, s3: S3) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    stage(source, bucket)
    s3.client.delete_object(Bucket=s3.bucket, Key="data/train/manifest.json")
    s3.client.delete_object(Bucket=s3.bucket, Key="data/train/empty")
    assert stage(source, Bucket(s3.client, s3.bucket, "data/train")).copied_files == 1


def test_a_changed_file_is_copied_again_even_with_the_same_size(
    source: Folder, target: Folder, s3: S3
) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    stage(source, bucket)
    stage(bucket, target)
    (source.root / "train2017" / "a.jpg").write_bytes(b"picture A")
    assert stage(source, bucket).copied_files == 1
    assert stage(bucket, target).copied_files == 1
    assert (target.root / "train2017" / "a.jpg").read_bytes() == b"picture A"


def test_a_damaged_file_at_the_target_is_found_and_mended(source: Folder, target: Folder) -> None:
    stage(source, target)
    place = target.root / "train2017" / "a.jpg"
    state = place.stat()
    place.write_bytes(b"picture ?")
    os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert verify(source, target) == ["content train2017/a.jpg"]
    assert stage(source, target).copied_files == 1
    assert verify(source, target) == []


def test_nothing_is_deleted_at_the_target_and_extra_files_are_counted(
    source: Folder, target: Folder
) -> None:
    write(target.root, {"mine.txt": b"mine", "train2017/old.jpg": b"old"})
    assert stage(source, target).extra_files == 2
    assert read(target.root)["mine.txt"] == b"mine"
    assert read(target.root)["train2017/old.jpg"] == b"old"


@pytest.mark.parametrize("path", [*sorted(FILES)])
@pytest.mark.parametrize("what", ["change", "remove", "add"])
def test_a_source_that_changes_during_the_copy_is_found_and_leaves_no_manifest(
    path: str, what: str, source: Folder, target: Folder
) -> None:
    def act() -> None:
        if what == "change":
            (source.root / path).write_bytes(b"changed")
        elif what == "remove":
            (source.root / path).unlink()
        else:
            (source.root / f"{path} new").write_bytes(b"new")

    with pytest.raises(JobFailed, match=r"changed|No such file"):
        stage(source, target, DoOnce(act))
    assert not (target.root / "manifest.json").exists()
    if what != "change":
        return
    assert (target.root / path).exists() is False or (target.root / path).read_bytes() in {
        FILES[path],
        b"changed",
    }


def test_an_object_that_is_replaced_during_the_copy_is_found(
    source: Folder, target: Folder, s3: S3
) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    stage(source, bucket)

    def replace() -> None:
        s3.client.put_object(Bucket=s3.bucket, Key="data/train/train2017/a.jpg", Body=b"other")

    with pytest.raises(ContentChanged, match=r"a\.jpg"):
        stage(bucket, target, DoOnce(replace))
    assert not (target.root / "manifest.json").exists()


def test_a_file_that_something_else_writes_at_the_target_is_found(
    source: Folder, target: Folder
) -> None:
    write(target.root, {"empty": b""})
    stage(source, target)
    (target.root / "manifest.json").unlink()
    (target.root / "train2017" / "a.jpg").unlink()

    def overwrite() -> None:
        (target.root / "annotations" / "instances_train2017.json").write_bytes(b"mine")

    with pytest.raises(ContentChanged):
        stage(source, target, DoOnce(overwrite))
    assert not (target.root / "manifest.json").exists()


def test_a_bucket_that_lacks_what_its_manifest_lists_is_not_copied(
    source: Folder, target: Folder, s3: S3
) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    stage(source, bucket)
    s3.client.delete_object(Bucket=s3.bucket, Key="data/train/train2017/a.jpg")
    with pytest.raises(JobFailed, match=r"1 file\(s\) are missing .*'train2017/a.jpg'"):
        stage(bucket, target)
    assert not target.root.exists()


def test_a_bucket_whose_object_is_not_what_its_manifest_says_is_found(
    source: Folder, target: Folder, s3: S3
) -> None:
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    stage(source, bucket)
    s3.client.put_object(Bucket=s3.bucket, Key="data/train/train2017/a.jpg", Body=b"picture X")
    with pytest.raises(JobFailed, match=r"a\.jpg' has SHA-256 .* its manifest says"):
        stage(bucket, target)
    assert not (target.root / "train2017" / "a.jpg").exists()


def test_objects_that_another_program_uploaded_are_copied_and_get_a_manifest(
    target: Folder, s3: S3
) -> None:
    for path, content in FILES.items():
        s3.client.put_object(Bucket=s3.bucket, Key=f"data/train/{path}", Body=content)
    bucket = Bucket(s3.client, s3.bucket, "data/train")
    assert stage(bucket, target).copied_files == len(FILES)
    assert verify(bucket, target) == []


def test_a_large_download_goes_on_behind_what_an_interrupted_one_left(
    target: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = os.urandom(5 * 1024 * 1024 + 17)
    write(tmp_path / "source", {"large.bin": content})
    stage(Folder(tmp_path / "source"), Folder(tmp_path / "first"))
    source = Folder(tmp_path / "first")  # It has a manifest to check against.
    offsets: list[int] = []
    real_read = Folder.read

    def read_noting(self: Folder, path: str, state: object, offset: int = 0) -> object:
        offsets.append(offset)
        for number, chunk in enumerate(real_read(self, path, state, offset)):  # type: ignore[arg-type]
            if len(offsets) == 1 and number == 3:
                raise KeyboardInterrupt
            yield chunk

    monkeypatch.setattr(Folder, "read", read_noting)
    with pytest.raises(KeyboardInterrupt):
        stage(source, target)
    assert not (target.root / "large.bin").exists()
    stage(source, target)
    assert offsets == [0, 3 * 1024 * 1024]
    assert (target.root / "large.bin").read_bytes() == content


def test_damaged_remains_of_an_interrupted_copy_are_thrown_away(
    target: Folder, tmp_path: Path
) -> None:
    write(tmp_path / "source", {"a": b"content"})
    stage(Folder(tmp_path / "source"), Folder(tmp_path / "first"))
    source = Folder(tmp_path / "first")
    with pytest.raises(KeyError), target.writing(print):
        writer = target.writer("a", 7, source.files()["a"].version)
        writer.write(b"???")
        writer.close()
        raise KeyError
    with pytest.raises(JobFailed, match="what an interrupted copy had left is damaged"):
        stage(source, target)
    stage(source, target)
    assert (target.root / "a").read_bytes() == b"content"


def test_too_little_space_is_said_before_anything_is_copied(
    source: Folder, target: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10_000, 9_000, 1_000))
    with pytest.raises(PreflightError, match=r"2\.0 kB are to be copied and 1\.0 kB are free"):
        stage(source, target)
    assert list(target.files()) == []


def test_space_is_not_asked_for_what_is_there_already(
    source: Folder, target: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(source, target)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10_000, 10_000, 0))
    assert stage(source, target).copied_files == 0


def test_an_empty_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no files to copy"):
        list_source(Folder(tmp_path))


def test_a_manifest_that_is_none_of_ours_in_the_source_is_refused(
    source: Folder, target: Folder
) -> None:
    write(source.root, {"manifest.json": b'{"name": "my web app"}'})
    with pytest.raises(UsageError, match="rename or remove it"):
        stage(source, target)


def test_a_file_and_a_folder_of_the_same_name_in_s3_are_refused(target: Folder, s3: S3) -> None:
    for key in ("x/a", "x/a/b"):
        s3.client.put_object(Bucket=s3.bucket, Key=key, Body=b"")
    with pytest.raises(UsageError, match="both a file 'a' and 'a/b' inside it"):
        stage(Bucket(s3.client, s3.bucket, "x"), target)


PATHS = st.lists(
    st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8
    ),
    min_size=1,
    max_size=3,
).map("/".join)


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.dictionaries(PATHS, st.binary(max_size=300), min_size=1, max_size=6))
def test_any_tree_that_is_staged_verifies(files: dict[str, bytes]) -> None:
    usable = {
        path: content
        for path, content in files.items()
        if problem_of_path(path) is None
        and path.split("/")[0] not in {"manifest.json", ".partial"}
        and not any(other.startswith(f"{path}/") for other in files)
    }
    with tempfile.TemporaryDirectory() as folder:
        source, target = Folder(Path(folder) / "source"), Folder(Path(folder) / "target")
        write(source.root, usable)
        if usable:
            stage(source, target)
            assert verify(source, target) == []
            assert {p: c for p, c in read(target.root).items() if p != "manifest.json"} == usable


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.dictionaries(
        st.text(
            string.ascii_letters + string.digits + " +#%&=@:,;?~'\"()[]{}<>|^`!$*üé日🐈",
            min_size=1,
            max_size=10,
        ).map(lambda name: f"d/{name}"),
        st.binary(max_size=50),
        min_size=1,
        max_size=4,
    )
)
def test_names_survive_the_way_through_s3(s3: S3, files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Folder(Path(folder) / "source"), Folder(Path(folder) / "target")
        write(source.root, files)
        bucket = Bucket(s3.client, s3.bucket, os.urandom(6).hex())
        stage(source, bucket)
        stage(bucket, target)
        assert {p: c for p, c in read(target.root).items() if p != "manifest.json"} == files
