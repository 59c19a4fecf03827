"""The way of pods into EFS."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_efs as efs
from constructs import Construct

Point = efs.CfnAccessPoint


class PodAccessPoint(Construct):
    """An access point to the whole file system: whoever a pod is, the server takes it for root.

    Jobs on SageMaker and EC2 are root, and no pod may be one; so each reads and writes what the
    others left. L1: the L2's is for a directory of its own.
    https://docs.aws.amazon.com/efs/latest/ug/efs-access-points.html

    Attributes:
        id: What a volume is mounted by.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        file_system: efs.IFileSystem,
        tags: Mapping[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.id = Point(
            self,
            "Point",
            file_system_id=file_system.file_system_id,
            posix_user=Point.PosixUserProperty(uid="0", gid="0"),
            root_directory=Point.RootDirectoryProperty(path="/"),
            access_point_tags=[
                Point.AccessPointTagProperty(key=key, value=value) for key, value in tags.items()
            ],
        ).attr_access_point_id
