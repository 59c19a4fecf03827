"""CloudFormation's operations, with the template addresses that the CDK CLI sends here."""

from __future__ import annotations

from contextlib import suppress
from typing import cast
from urllib.parse import unquote, urlsplit

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import ChangeSet
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, EmptyResult
from moto.s3.exceptions import S3ClientError
from moto.s3.models import s3_backends

from localaws.cloudformation.backend import ChangeSetNotFound, StackBackend


class StackResponse(CloudFormationResponse):
    """moto's, which finds a template by S3's host names only, and a change set by its name only.

    The CDK CLI calls the change sets of all stacks by one name.
    """

    @property
    def _stacks(self) -> StackBackend:
        return cast(StackBackend, self.cloudformation_backend)

    def _change_set(self) -> ChangeSet:
        name, stack_name = self._get_param("ChangeSetName"), self._get_param("StackName")
        return self._stacks.find_change_set(name, stack_name)

    def describe_change_set(self) -> ActionResult:
        return ActionResult(self._change_set())

    def delete_change_set(self) -> ActionResult:
        # No error where there is none: `cdk diff` deletes before it makes one.
        with suppress(ChangeSetNotFound):
            del self._stacks.change_sets[self._change_set().change_set_id]
        return EmptyResult()

    def _get_stack_from_s3_url(self, template_url: str) -> str:
        address = urlsplit(template_url)
        host, path = address.hostname or "", unquote(address.path).lstrip("/")
        # The CLI puts the endpoint, an address, in the place of S3's host name.
        if host in ("127.0.0.1", "localhost") or host.startswith(("s3.", "s3-")):
            bucket, _, key = path.partition("/")
        else:
            bucket, key = host.split(".", maxsplit=1)[0], path
        try:
            template = s3_backends[self.current_account][self.partition].get_object(bucket, key)
        except (S3ClientError, ServiceException) as error:
            raise ValidationError(message=f"S3 error: {template_url}: {error}") from error
        if template is None:
            raise ValidationError(message=f"S3 error: {template_url}: no such object")
        return template.value.decode()
