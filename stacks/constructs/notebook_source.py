"""What the notebook runs of this project, as one file in S3."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import AssetHashType
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

PROJECT = Path(__file__).resolve().parents[2]

PARTS = (
    "charts",
    "constraints.txt",
    "docker",
    "jobs",
    "notebooks",
    "requirements-notebook.txt",
    "requirements-train.txt",
    "toolchain",
    "training",
)
"""Of the project: what launch, data and images need, as far as it is there.

An image's tag is a hash of its sources: where one of them were missing here, jobs would be launched
with an image that nobody has pushed.
"""

SCRIPTS = Path("stacks/lifecycle")
"""What a start of the instance runs once it has the source."""

LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")

_MIDNIGHT = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can hold: a checkout's own times must not reach the hash."""


class NotebookSource(Construct):
    """The source as an asset of the CDK's, the same file in every checkout.

    Attributes:
        bucket_name: Where `cdk deploy` puts it.
        object_key: Its name there.
        sha256: Of the file, in hexadecimal.
    """

    def __init__(self, scope: Construct, construct_id: str, *, project: Path = PROJECT) -> None:
        super().__init__(scope, construct_id)
        with TemporaryDirectory() as folder:
            archive = Path(folder, "source.zip")
            write_archive(archive, project)
            self.sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
            asset = s3_assets.Asset(
                self,
                "Archive",
                path=str(archive),
                asset_hash=self.sha256,
                asset_hash_type=AssetHashType.CUSTOM,
                display_name="source for the notebook",
            )
        self._bucket = asset.bucket
        self.bucket_name = asset.s3_bucket_name
        self.object_key = asset.s3_object_key

    def may_read(self) -> iam.PolicyStatement:
        """Return the statement for this one object; the asset's own grant has wildcards."""
        return iam.PolicyStatement(
            actions=["s3:GetObject"], resources=[self._bucket.arn_for_objects(self.object_key)]
        )


def write_archive(archive: Path, project: Path) -> None:
    """Write a ZIP file that depends on names and contents alone.

    Nothing is compressed: another zlib would compress to other bytes.
    """
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for path in sorted(files_of(project)):
            entry = zipfile.ZipInfo(path.as_posix(), _MIDNIGHT)
            entry.create_system = 3  # Unix, so that the mode below counts, wherever it is made.
            entry.external_attr = 0o644 << 16
            file.writestr(entry, (project / path).read_bytes())


def files_of(project: Path) -> Iterator[Path]:
    """Yield the files that go into the archive, relative to the project."""
    for part in (*map(Path, PARTS), SCRIPTS):
        place = project / part
        found = [place] if place.is_file() else place.rglob("*")
        for path in found:
            relative = path.relative_to(project)
            if path.is_file() and not _is_left_out(relative):
                yield relative


def _is_left_out(path: Path) -> bool:
    return any(name in LEFT_OUT or name.startswith(".") for name in path.parts) or path.suffix in (
        ".pyc",
        ".orig",
        ".rej",
    )
