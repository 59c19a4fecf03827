"""Copies between S3 and FSx for Lustre over the link that the file system has: FSx does them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.aws.errors import AwsRefused
from training.data.compare import learn, see
from training.data.file_naming import file_errors
from training.data.lustre_link import Link
from training.data.lustre_task import Tasks
from training.data.manifest import MANIFEST, Entry, Manifest
from training.data.side import ContentChanged, FileState, Side, expected_digests
from training.data.stage import Manner
from training.data.threads import thread_pool
from training.errors import JobFailed

if TYPE_CHECKING:
    from training.data.folder import Folder
    from training.data.places import LustrePlace

Files = Mapping[str, FileState]

ARRIVAL_S = 600.0
"""How long it may take until one more file appears, after FSx says that it has done its part."""
_POLL_S = 2.0
_TELL_EVERY_S = 30.0

_KEPT_OUT = (
    "Files that were changed on the file system and are not exported keep others out: export them "
    "(--from fsx --to s3), or remove them"
)
_NOT_FOLLOWED = (
    "Linked by ImportPath, FSx lists the bucket when it makes the file system, and then follows it "
    "as far as fsx_import_events of StorageStack says: set that to NEW,CHANGED before you stage to "
    "S3, or link by an association (fsx_bucket_link)"
)
_NOT_EXPORTED = (
    "FSx exports by itself only what was written since fsx_export_events of StorageStack says so. "
    "Set that to none, then run again: all files are exported on demand"
)

_OF_ANOTHER_KIND = frozenset({"FileSystemNotFound", "ServiceLimitExceeded"})
"""Refusals of a task that have nothing to do with automatic export."""


@dataclass(frozen=True)
class Exported:
    """What an export did."""

    manifest: Manifest
    extra_files: int
    """In S3 and not in the folder."""


def import_names(
    tasks: Tasks,
    link: Link,
    address: str,
    files: Files,
    folder: Folder | None,
    *,
    manifest: Manifest | None = None,
) -> dict[str, FileState]:
    """Have FSx import what S3 has, see that all names have arrived, and return what is there.

    Args:
        tasks: Of the file system.
        link: Over which it mirrors the address.
        address: s3://bucket/prefix.
        files: What is there.
        folder: Where they are to appear; None where the file system is not mounted here, so that
            nobody can look, and nothing is returned.
        manifest: That lies beside the files in S3. An older one in the folder shows that FSx has
            not followed a change, where names and sizes are the same.

    Raises:
        JobFailed: The import failed, or names are missing.
    """
    if link.takes_import:
        tasks.run("IMPORT_METADATA_FROM_REPOSITORY", address)
    if folder is None:
        return {}
    target = folder

    def list_folder() -> Files:
        with file_errors(target.root):
            is_there = target.root.is_dir()
        return target.files() if is_there else {}

    def is_current() -> bool:
        there = target.read_manifest() if manifest else None
        return there is None or _contents(there) == _contents(manifest)

    advice = _KEPT_OUT if link.takes_import else _NOT_FOLLOWED
    arrived = _wait_for(
        files,
        list_folder,
        tasks,
        at=target.name,
        origin="S3",
        advice=advice,
        is_current=is_current,
    )
    return dict(arrived)


def _contents(manifest: Manifest | None) -> set[tuple[str, str]]:
    return {(entry.path, entry.sha256) for entry in manifest.files} if manifest else set()


def _wait_for(
    files: Files,
    look: Callable[[], Files],
    tasks: Tasks,
    *,
    at: str,
    origin: str,
    advice: str,
    is_current: Callable[[], bool] = lambda: True,
) -> Files:
    """Return what is there as soon as all files are, with their sizes.

    Args:
        files: Those that are to arrive.
        look: Lists what is there.
        tasks: Of the file system.
        at: Where, for what is told.
        origin: Where they come from, for what is told.
        advice: What to do where some never arrive.
        is_current: Whether the manifest there is not an older one; asked when all files are there.

    Raises:
        JobFailed: They are not, and no more have come for `ARRIVAL_S`.
    """
    changed_at = time.monotonic()
    tell_at = changed_at + _TELL_EVERY_S
    left = len(files) + 1
    while True:
        there = look()
        wrong = sorted(
            path
            for path, state in files.items()
            if path not in there or there[path].size != state.size
        )
        if not wrong:
            if is_current():
                return there
            wrong = [MANIFEST]
        now = time.monotonic()
        counts = f"{at}: {len(wrong):,} of {len(files):,} files of {origin}"
        if len(wrong) < left:
            left, changed_at = len(wrong), now
        elif now > changed_at + ARRIVAL_S:
            raise JobFailed(f"{counts} have not arrived, {wrong[0]!r} for example. {advice}")
        if now >= tell_at:
            tell_at = now + _TELL_EVERY_S
            tasks.tell(f"{counts} have not arrived yet")
        tasks.sleep(_POLL_S)


def export(
    tasks: Tasks, link: Link, place: LustrePlace, target: Side, files: Files, *, manner: Manner
) -> Exported:
    """Have FSx export a folder, compare what has arrived, and leave the manifest beside it.

    Args:
        tasks: Of the file system.
        link: Over which it mirrors the target.
        place: The folder, mounted here.
        target: The place in S3 that it mirrors.
        files: As `list_source` gave them.
        manner: How.

    Raises:
        JobFailed: The export failed, or S3 has something else.
    """
    source = place.folder
    assert source
    expected = expected_digests(source, files)
    _have_exported(tasks, link, place, target, files)
    there = target.files()

    def compare(path: str) -> Entry:
        state = there.get(path)
        if state is None or state.size != files[path].size:
            raise ContentChanged(
                f"{target.name}: {path!r} is {'missing' if state is None else 'of another size'} "
                "after the export. Let nothing write to the folder, run again"
            )
        here = source.digest(path, files[path], md5=True)
        if expected.get(path, here).agrees(here) is False:
            raise JobFailed(
                f"{source.name}: {path!r} is not what its manifest says. Stage it again"
            )
        _, at_target = learn(see(source, path, files[path], here), see(target, path, state))
        if here.agrees(at_target) is False:
            raise ContentChanged(f"{target.name}: {path!r} has another content. Run again")
        manner.progress.advance(state.size)
        return Entry(path=path, size=state.size, sha256=here.whole, etag=target.etag(state))

    with thread_pool(manner.jobs) as pool:
        manifest = Manifest.of(pool.map(compare, sorted(files)))
    target.write_manifest(manifest)
    return Exported(manifest, len(there.keys() - files.keys()))


def _have_exported(
    tasks: Tasks, link: Link, place: LustrePlace, target: Side, files: Files
) -> None:
    """Have FSx export a folder, or wait for what it exports by itself.

    FSx does not run an export task beside automatic export:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/export-changed-data-meta-dra.html
    """
    try:
        tasks.run("EXPORT_TO_REPOSITORY", place.path)
    except AwsRefused as error:
        if not (link.exports_by_itself and _is_about_export(error)):
            raise
        tasks.tell(f"{place.file_system_id}: takes no export now ({error.code}): it exports itself")
        _wait_for(files, target.files, tasks, at=target.name, origin="FSx", advice=_NOT_EXPORTED)


def _is_about_export(error: AwsRefused) -> bool:
    """Return whether FSx may have refused a task since it exports by itself."""
    is_of_another_kind = (
        error.is_denial
        or error.is_about_credentials
        or error.is_throttling
        or error.is_fault
        or error.code in _OF_ANOTHER_KIND
    )
    return error.operation == "CreateDataRepositoryTask" and not is_of_another_kind
