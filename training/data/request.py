"""What the user asks `stage` to do, in one object: the same wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass

from training.data.places import Place
from training.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class StageRequest:
    """One copy.

    Attributes:
        source: A folder or s3://bucket/prefix; None where `from_place` says it.
        from_place: Of what StorageStack made.
        to: Of what StorageStack made.
        path: Of the data set, in each such place.
        jobs: Files at a time.
        delete: Whether to delete at the target what the source lacks.
        preload: Whether FSx fetches the content of what it imports.
        release: Whether FSx forgets the content of what it has exported.
    """

    source: str | None
    from_place: Place | None
    to: Place
    path: str
    jobs: int
    delete: bool = False
    preload: bool = False
    release: bool = False

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            UsageError: It does.
        """
        if self.source and self.from_place:
            raise UsageError(f"give a source ({self.source}) or --from {self.from_place}, not both")
        if self.from_place is self.to:
            raise UsageError(
                f"--from {self.from_place} --to {self.to}: that is the same place; give another"
            )
        if not self.source and self.origin is self.to:
            raise UsageError(
                f"--to {self.to}: name what to copy: a folder, s3://…, or --from another place"
            )
        if self.preload and self.to is not Place.FSX:
            raise UsageError("--preload: is for --to fsx: the others hold every file whole")
        if self.release and not (self.origin is Place.FSX and self.to is Place.S3):
            raise UsageError("--release: is for --from fsx --to s3")

    @property
    def origin(self) -> Place | None:
        """The place that is copied from; None where it is `source`."""
        return None if self.source else self.from_place or Place.S3
