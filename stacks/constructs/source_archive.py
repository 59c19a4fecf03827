"""A part of this project as one file in S3: the same file from every checkout."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import AssetHashType
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

PROJECT = Path(__file__).resolve().parents[2]

LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")

_MIDNIGHT = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can hold: a checkout's own times must not reach the hash."""


class SourceArchive(Construct):
    """Files of the project as an asset of the CDK's.

    Attributes:
        bucket_name: Where `cdk deploy` puts it.
        object_key: Its name there.
        sha256: Of the file, in hexadecimal.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        parts: Iterable[str],
        display_name: str,
        project: Path = PROJECT,
    ) -> None:
        """Build it.

        Args:
            parts: Files and folders, relative to the project.
            display_name: What the CDK CLI calls it.
            project: The project's folder.
        """
        super().__init__(scope, construct_id)
        with TemporaryDirectory() as folder:
            archive = Path(folder, "source.zip")
            write_zip(archive, project, parts)
            self.sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
            asset = s3_assets.Asset(
                self,
                "Archive",
                path=str(archive),
                asset_hash=self.sha256,
                asset_hash_type=AssetHashType.CUSTOM,
                display_name=display_name,
            )
        self._bucket = asset.bucket
        self.bucket_name = asset.s3_bucket_name
        self.object_key = asset.s3_object_key

    def may_read(self) -> iam.PolicyStatement:
        """Return the statement for this one object; the asset's own grant has wildcards."""
        return iam.PolicyStatement(
            actions=["s3:GetObject"], resources=[self._bucket.arn_for_objects(self.object_key)]
        )


def write_zip(archive: Path, project: Path, parts: Iterable[str]) -> None:
    """Write a ZIP file that depends on names and contents alone.

    Nothing is compressed: another zlib would compress to other bytes.
    """
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for path in sorted(files_of(project, parts), key=Path.as_posix):
            entry = zipfile.ZipInfo(path.as_posix(), _MIDNIGHT)
            entry.create_system = 3  # Unix, so that the mode below counts, wherever it is made.
            entry.external_attr = 0o644 << 16
            file.writestr(entry, (project / path).read_bytes())


def files_of(project: Path, parts: Iterable[str]) -> Iterator[Path]:
    """Yield the files of the parts, as far as they are there, relative to the project.

    A link to a folder is that folder: each chart has its library so, and Helm wants it inside.
    """
    for part in parts:
        place = project / part
        for path in [place] if place.is_file() else _files_below(place):
            relative = path.relative_to(project)
            if path.is_file() and not _is_left_out(relative):
                yield relative


def _files_below(folder: Path) -> Iterator[Path]:
    # Path.rglob enters no links, before Python 3.13.
    for place, _, names in os.walk(folder, followlinks=True):
        yield from (Path(place, name) for name in names)


def _is_left_out(path: Path) -> bool:
    return any(name in LEFT_OUT or name.startswith(".") for name in path.parts) or path.suffix in (
        ".pyc",
        ".orig",
        ".rej",
    )
