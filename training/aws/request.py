"""One request, or all pages of one, with errors that name the IAM action that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from training.aws.client import where
from training.aws.errors import AwsRefused, ForeignAnswer, translated

_ACTIONS = {
    # Those of S3 that are not named as their operation:
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock",
}


def ask(client: Any, method: str, **request: Any) -> dict[str, Any]:
    """Make a request.

    Args:
        client: A boto3 client.
        method: As boto3 names it, such as `describe_key`.
        request: Its parameters, spelled as AWS does.

    Raises:
        AwsRefused: The service refused; the exception has the `action`.
        ForeignAnswer: Something answered that is not AWS.
        AwsError: No answer came.
    """
    with _errors_name(client), translated():
        answer: dict[str, Any] = getattr(client, method)(**request)
    return answer


def ask_all(client: Any, method: str, field: str, **request: Any) -> list[dict[str, Any]]:
    """Make a request, and those for its further pages; return what the pages list in a field.

    Raises:
        AwsRefused: The service refused; the exception has the `action`.
        ForeignAnswer: Something answered that is not AWS.
        AwsError: No answer came.
    """
    with _errors_name(client), translated():
        pages = client.get_paginator(method).paginate(**request)
        return [item for page in pages for item in page.get(field, [])]


def action_named(signing_name: str, operation: str) -> str:
    """Return the IAM action of an operation: services sign with the prefix of their actions.

    Args:
        signing_name: Such as `elasticfilesystem`.
        operation: As AWS names it, such as `DescribeFileSystems`.
    """
    name = f"{signing_name}:{operation}"
    return _ACTIONS.get(name, name)


@contextmanager
def _errors_name(client: Any) -> Iterator[None]:
    """Let a refusal name the IAM action, and a foreign answer the place that was asked."""
    try:
        yield
    except AwsRefused as error:
        error.action = action_named(client.meta.service_model.signing_name, error.operation)
        raise
    except ForeignAnswer as error:
        raise ForeignAnswer(error.operation, error.answer, place=where(client)) from error
