"""DataSync's state: locations that are checked, and tasks that copy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from moto.datasync import urls
from moto.datasync.exceptions import InvalidRequestException
from moto.datasync.models import DataSyncBackend, Location
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends
from moto.iam.models import iam_backends
from moto.s3.exceptions import MissingBucket

from localaws.datasync.execution import ENDED, Execution
from localaws.datasync.side import BucketSide, FolderSide, Side
from localaws.fsx.repository import backend as s3


class CopyingBackend(DataSyncBackend):
    """The transfers of one region."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def make_location(self, kind: str, request: dict[str, Any]) -> str:
        """Make a location once what it names is there.

        Raises:
            InvalidRequestException: It is not.
        """
        uri = getattr(self, f"_uri_of_{kind}")(request)
        return self.create_location(uri, typ=kind.upper(), metadata=request)

    def _uri_of_s3(self, request: dict[str, Any]) -> str:
        bucket = request["S3BucketArn"].rpartition(":")[2]
        try:
            s3().get_bucket(bucket)
        except MissingBucket as error:
            raise InvalidRequestException(f"The bucket {bucket} does not exist") from error
        self._require_role(request["S3Config"]["BucketAccessRoleArn"])
        return f"s3://{bucket}/{request.get('Subdirectory', '').strip('/')}/"

    def _uri_of_efs(self, request: dict[str, Any]) -> str:
        identity = request["EfsFilesystemArn"].rpartition("/")[2]
        if identity not in efs_backends[self.account_id][self.region_name].file_systems_by_id:
            raise InvalidRequestException(f"EFS file system {identity} does not exist")
        if role := request.get("FileSystemAccessRoleArn"):
            if request.get("InTransitEncryption") != "TLS1_2":
                raise InvalidRequestException("FileSystemAccessRoleArn requires TLS1_2")
            self._require_role(role)
        return f"efs://{self.region_name}.{identity}/{_inside(request)}"

    def _uri_of_fsx_lustre(self, request: dict[str, Any]) -> str:
        identity = request["FsxFilesystemArn"].rpartition("/")[2]
        if identity not in fsx_backends[self.account_id][self.region_name].file_systems:
            raise InvalidRequestException(f"FSx file system {identity} does not exist")
        return f"fsxl://{self.region_name}.{identity}/{_inside(request)}"

    def _require_role(self, arn: str) -> None:
        roles = iam_backends[self.account_id]["aws"].roles.values()
        if not any(role.arn == arn for role in roles):
            raise InvalidRequestException(f"DataSync cannot assume role {arn}")

    def delete_location(self, location_arn: str) -> None:
        for task in self.tasks.values():
            if location_arn in (task.source_location_arn, task.destination_location_arn):
                raise InvalidRequestException(f"Location {location_arn} is used by {task.arn}")
        super().delete_location(location_arn)

    def start_task_execution(self, task_arn: str) -> str:
        task = self.tasks.get(task_arn)
        if task is None:
            raise InvalidRequestException(f"Task {task_arn} is not found.")
        if self._running(task_arn) is not None:
            raise InvalidRequestException(f"Task {task_arn} is in use: TaskQueueing is disabled")
        self.arn_counter += 1
        execution = Execution(task_arn, self.arn_counter)
        self.task_executions[execution.arn] = execution
        task.current_task_execution_arn = execution.arn
        excluded = [
            pattern
            for rule in task.metadata.get("Excludes") or []
            for pattern in rule["Value"].split("|")
        ]
        execution.start(
            self._side(task.source_location_arn),
            self._side(task.destination_location_arn),
            excluded,
            task.metadata.get("TaskReportConfig"),
        )
        return execution.arn

    def describe_task(self, task_arn: str) -> dict[str, Any]:
        """Return what DescribeTask answers.

        Raises:
            InvalidRequestException: There is no such task.
        """
        task = self.tasks.get(task_arn)
        if task is None:
            raise InvalidRequestException(f"Task {task_arn} is not found.")
        running = self._running(task_arn)
        answer = {
            "TaskArn": task.arn,
            "Name": task.name,
            "Status": "RUNNING" if running else "AVAILABLE",
            "SourceLocationArn": task.source_location_arn,
            "DestinationLocationArn": task.destination_location_arn,
            "Options": task.metadata.get("Options") or {},
            "Excludes": task.metadata.get("Excludes") or [],
        }
        return answer | ({"CurrentTaskExecutionArn": running.arn} if running else {})

    def delete_task(self, task_arn: str) -> None:
        if task_arn not in self.tasks:
            raise InvalidRequestException(f"Task {task_arn} is not found.")
        super().delete_task(task_arn)

    def cancel_task_execution(self, task_execution_arn: str) -> None:
        self._get_task_execution(task_execution_arn).cancel()

    def _running(self, task_arn: str) -> Execution | None:
        mine = (each for each in self.task_executions.values() if each.task_arn == task_arn)
        found = next((each for each in mine if each.status not in ENDED), None)
        return found if isinstance(found, Execution) else None

    def _side(self, arn: str) -> Side:
        location: Location = self.locations[arn]
        request = location.metadata
        if location.typ == "S3":
            prefix = request.get("Subdirectory", "").strip("/")
            bucket = request["S3BucketArn"].rpartition(":")[2]
            return BucketSide(bucket, f"{prefix}/" if prefix else "")
        key = "EfsFilesystemArn" if location.typ == "EFS" else "FsxFilesystemArn"
        return FolderSide(request[key].rpartition("/")[2], _inside(request))


def _inside(request: dict[str, Any]) -> str:
    return str(request.get("Subdirectory", "")).strip("/")
