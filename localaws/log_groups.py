"""CloudWatch Logs: the key of a log group that is there already, which moto cannot change."""

from __future__ import annotations

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogGroup
from moto.logs.responses import LogsResponse


class LogGroupResponse(LogsResponse):
    """Logs' operations, with two more."""

    def _log_group(self) -> LogGroup:
        name = self._get_param("logGroupName")
        if name not in self.logs_backend.groups:
            raise ResourceNotFoundException()
        return self.logs_backend.groups[name]

    def associate_kms_key(self) -> str:
        self._log_group().kms_key_id = self._get_param("kmsKeyId")
        return ""

    def disassociate_kms_key(self) -> str:
        self._log_group().kms_key_id = None
        return ""
