"""Runs a copy on this machine; see `training.data.on` for where else it may run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from training.data.lock import Tell
from training.data.places import Place, Places
from training.data.progress import Progress
from training.data.request import StageRequest
from training.data.stage import Manner, Staged, list_source, stage
from training.errors import UsageError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from training.data.bulk import Bulk
    from training.data.lustre_link import Link
    from training.data.lustre_task import Tasks
    from training.data.manifest import Manifest
    from training.data.side import FileState, Side

ShowProgress = Callable[[str, int, str], AbstractContextManager[Progress]]
Files = Mapping[str, "FileState"]


@dataclass(frozen=True)
class Outcome:
    """What a copy did; the fields of `stage --format json`."""

    source: str
    target: str
    how: str
    """`copied`, or `imported` and `exported` by FSx."""
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int
    extra_files: int | None
    """At the target and not at the source; None where nobody could look."""
    deleted_files: int

    @classmethod
    def of_copy(cls, source: str, target: str, staged: Staged) -> Self:
        """Return what a copy by this program did."""
        return cls(
            source,
            target,
            how="copied",
            files=staged.files,
            bytes=staged.total_bytes,
            copied_files=staged.copied_files,
            copied_bytes=staged.copied_bytes,
            extra_files=staged.extra_files,
            deleted_files=staged.deleted_files,
        )


@dataclass(frozen=True)
class Here:
    """This machine.

    Attributes:
        places: Finds what the user names.
        make_bulk: Makes what copies many small files at once.
        make_tasks: Makes the tasks of an FSx file system.
        show_progress: Shows it: title, amount, unit.
        tell: Tells the user what is no result.
    """

    places: Places
    make_bulk: Callable[[S3Client], Bulk]
    make_tasks: Callable[[str], Tasks]
    show_progress: ShowProgress
    tell: Tell

    def run(self, request: StageRequest) -> Outcome:
        """Copy.

        Raises:
            TrainingError: It was not possible; nothing is half there under its name.
        """
        origin = self._origin(request)
        if link := self._import_link(request, origin):
            return self._import(request, origin, link)
        target = self.places.of_stack(request.to, request.path)
        if request.preload:
            raise UsageError(
                f"--preload: {target.name} is not linked to {origin.name}: what is copied there is "
                "whole. Leave --preload out"
            )
        require_apart(origin, target)
        if link := self._export_link(request, target):
            return self._export(request, origin, target, link)
        if request.release:
            raise UsageError(
                f"--release: {origin.name} is not linked to {target.name}, or FSx exports it to "
                "another place (ExportPath). Leave --release out"
            )
        if request.delete and request.to is Place.FSX:
            self._refuse_to_delete_in_s3(request)
        return self._copy(request, origin, target)

    def _origin(self, request: StageRequest) -> Side:
        if request.source:
            return self.places.named(request.source)
        assert request.origin
        return self.places.of_stack(request.origin, request.path)

    def _copy(self, request: StageRequest, origin: Side, target: Side) -> Outcome:
        files = list_source(origin)
        with self._progress(f"Staging to {request.to}", files) as progress:
            staged = stage(origin, target, files, self._manner(request, progress))
        return Outcome.of_copy(origin.name, target.name, staged)

    def _import_link(self, request: StageRequest, origin: Side) -> Link | None:
        if request.to is not Place.FSX or origin.bucket is None:
            return None
        place = self.places.lustre(request.path)
        return self._find_link(place.file_system_id, origin.name, place.path)

    def _export_link(self, request: StageRequest, target: Side) -> Link | None:
        if request.origin is not Place.FSX or target.bucket is None:
            return None
        place = self.places.lustre(request.path)
        link = self._find_link(place.file_system_id, target.name, place.path)
        return link if link and link.takes_export else None

    def _find_link(self, file_system_id: str, address: str, folder: str) -> Link | None:
        from training.data.lustre_link import find_link

        client = self.make_tasks(file_system_id).client
        link = find_link(client, file_system_id, address, folder)
        if link:
            link.require_usable()
            if link.state != "AVAILABLE":
                self.tell(
                    f"{link}: FSx does what it is asked for, and may follow nothing by itself"
                )
        return link

    def _refuse_to_delete_in_s3(self, request: StageRequest) -> None:
        """Refuse to delete where FSx would delete the objects that the folder mirrors, too."""
        from training.data.lustre_link import find_deleting_link

        place = self.places.lustre(request.path)
        client = self.make_tasks(place.file_system_id).client
        if link := find_deleting_link(client, place.file_system_id, place.path):
            raise UsageError(
                f"--delete: what is deleted in /{place.path} of {place.file_system_id}, FSx "
                f"deletes in {link.address} too: /{link.folder} is linked to it, with DELETED "
                "among the events that it exports. Leave --delete out, or take DELETED out of "
                "fsx_export_events of StorageStack"
            )

    def _import(self, request: StageRequest, origin: Side, link: Link) -> Outcome:
        from training.data.lustre import import_names
        from training.data.lustre_preload import preload

        _refuse_delete(request, link)
        place = self.places.lustre(request.path)
        if request.preload and place.folder is None:
            raise UsageError(
                f"--preload: {link.file_system_id} is not mounted on this machine. Run this where "
                "it is mounted; the names alone can be imported from here"
            )
        if place.folder is None and not link.takes_import:
            raise UsageError(
                f"{link.file_system_id} is not mounted on this machine, and linked by ImportPath: "
                "FSx follows the bucket by itself and takes no import, so that there is nothing to "
                "ask for, and nobody here can look. Run this where it is mounted"
            )
        files = list_source(origin)
        self.tell(f"{origin.name}: FSx imports it over its link to {link.address}")
        there = import_names(
            self.make_tasks(link.file_system_id),
            link,
            origin.name,
            files,
            place.folder,
            manifest=_manifest_beside(origin) if place.folder else None,
        )
        if place.folder is None:
            self.tell(
                f"{link.file_system_id} is not mounted on this machine: FSx says that all names "
                "were imported, and nobody has looked"
            )
        elif request.preload:
            with self._progress("Preloading", files) as progress:
                wanted = {path: there[path] for path in files}
                preload(place.folder, wanted, jobs=request.jobs, progress=progress)
        return Outcome(
            origin.name,
            place.folder.name if place.folder else f"{link.file_system_id}:/{place.path}",
            how="imported",
            files=len(files),
            bytes=_total(files),
            copied_files=0,
            copied_bytes=0,
            extra_files=len(there.keys() - files.keys()) if place.folder else None,
            deleted_files=0,
        )

    def _export(self, request: StageRequest, origin: Side, target: Side, link: Link) -> Outcome:
        from training.data.lustre import export

        _refuse_delete(request, link)
        place = self.places.lustre(request.path)
        tasks = self.make_tasks(link.file_system_id)
        files = list_source(origin)
        self.tell(f"{origin.name}: FSx exports it over its link to {link.address}")
        with self._progress("Comparing", files) as progress:
            manner = self._manner(request, progress)
            exported = export(tasks, link, place, target, files, manner=manner)
        if request.release:
            tasks.run("RELEASE_DATA_FROM_FILESYSTEM", place.path)
        return Outcome(
            origin.name,
            target.name,
            how="exported",
            files=len(files),
            bytes=_total(files),
            copied_files=0,
            copied_bytes=0,
            extra_files=exported.extra_files,
            deleted_files=0,
        )

    def _progress(self, title: str, files: Files) -> AbstractContextManager[Progress]:
        return self.show_progress(title, _total(files), "bytes")

    def _manner(self, request: StageRequest, progress: Progress) -> Manner:
        return Manner(
            jobs=request.jobs,
            bulk=self.make_bulk(self.places.client),
            delete=request.delete,
            progress=progress,
            tell=self.tell,
        )


def _manifest_beside(origin: Side) -> Manifest | None:
    """Return the manifest beside what FSx imports; None where it has none of this program's."""
    try:
        return origin.read_manifest()
    except UsageError:
        return None


def _refuse_delete(request: StageRequest, link: Link) -> None:
    if request.delete:
        raise UsageError(
            f"--delete: {link.file_system_id} mirrors {link.address}, and follows what is deleted "
            "there as its link is set. Leave --delete out"
        )


def _total(files: Files) -> int:
    return sum(state.size for state in files.values())


def require_apart(origin: Side, target: Side) -> None:
    """Refuse to copy a folder into itself: the copy would be copied again, and again.

    Raises:
        UsageError: One is in the other.
    """
    if origin.root is None or target.root is None:
        return
    source, into = origin.root.resolve(), target.root.resolve()
    if into.is_relative_to(source) or source.is_relative_to(into):
        raise UsageError(f"{origin.name}: cannot be copied to {target.name}: one is in the other")
