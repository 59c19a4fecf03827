"""CloudWatch Logs: the key of a log group that is there already, and the lines of training jobs."""

from __future__ import annotations

from typing import cast

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogGroup
from moto.logs.responses import LogsResponse
from moto.sagemaker.models import sagemaker_backends

from localaws.sagemaker.backend import SageMakerBackend


class LogGroupResponse(LogsResponse):
    """Logs' operations, with two more; those that read find what training jobs have written."""

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

    def delete_log_group(self) -> str:
        """moto keeps its tags, which the next group of the name would have."""
        arn = self._log_group().arn
        answer = super().delete_log_group()
        self.logs_backend.tagger.delete_all_tags_for_resource(arn)
        return answer

    def describe_log_streams(self) -> str:
        self._take_lines_of_jobs()
        return super().describe_log_streams()

    def get_log_events(self) -> str:
        self._take_lines_of_jobs()
        return super().get_log_events()

    def filter_log_events(self) -> str:
        self._take_lines_of_jobs()
        return super().filter_log_events()

    def _take_lines_of_jobs(self) -> None:
        sagemaker = sagemaker_backends[self.current_account][self.region]
        cast(SageMakerBackend, sagemaker).keep_lines_of_jobs()
