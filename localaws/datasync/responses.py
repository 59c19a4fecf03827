"""DataSync's operations, as far as the project uses them."""

from __future__ import annotations

import json
from typing import Any, cast

from moto.datasync.responses import DataSyncResponse

from localaws.datasync.backend import CopyingBackend
from localaws.datasync.execution import Execution


class CopyingResponse(DataSyncResponse):
    """Answers the requests of one region."""

    @property
    def _copying(self) -> CopyingBackend:
        return cast(CopyingBackend, self.datasync_backend)

    def create_location_s3(self) -> str:
        return self._create_location("s3")

    def create_location_efs(self) -> str:
        return self._create_location("efs")

    def create_location_fsx_lustre(self) -> str:
        return self._create_location("fsx_lustre")

    def create_task(self) -> str:
        request = self._request()
        arn = self._copying.create_task(
            request["SourceLocationArn"],
            request["DestinationLocationArn"],
            request.get("Name", ""),
            metadata=request,
        )
        return json.dumps({"TaskArn": arn})

    def describe_task(self) -> str:
        return json.dumps(self._copying.describe_task(self._get_param("TaskArn")))

    def describe_task_execution(self) -> str:
        arn = self._get_param("TaskExecutionArn")
        execution = cast(Execution, self._copying._get_task_execution(arn))
        return json.dumps(execution.describe())

    def _create_location(self, kind: str) -> str:
        arn = self._copying.make_location(kind, self._request())
        return json.dumps({"LocationArn": arn})

    def _request(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body or "{}")
        return found
