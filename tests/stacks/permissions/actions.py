"""Which IAM actions an operation of AWS asks for.

The names of actions are those of the operations, but for a few; which actions exist and which
resources they take is in the data of AWS's policy editor, which cfn-lint carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import botocore.session
from cfnlint.data import AdditionalSpecs
from cfnlint.helpers import load_resource

from tests.stacks.permissions.calls import Operation

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
S3_ACTIONS: Mapping[str, str] = {
    "CompleteMultipartUpload": "PutObject",
    "CreateMultipartUpload": "PutObject",
    "DeleteObjects": "DeleteObject",
    "HeadBucket": "ListBucket",
    "HeadObject": "GetObject",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListObjectsV2": "ListBucket",
    "ListParts": "ListMultipartUploadParts",
    "UploadPart": "PutObject",
}

PREFIXES: Mapping[str, str] = {"monitoring": "cloudwatch"}
"""Of services whose actions do not begin with the name that signs their requests."""

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
OF_THE_KEY: Mapping[str, set[str]] = {
    "s3:GetObject": {"kms:Decrypt"},
    "s3:PutObject": {"kms:Decrypt", "kms:GenerateDataKey"},
}
"""What S3 asks KMS for in the caller's name, where objects are encrypted with a key of KMS."""


@cache
def policy_data() -> dict[str, Any]:
    data: dict[str, Any] = load_resource(AdditionalSpecs, "Policies.json")
    return data


def actions_of(operations: Iterable[Operation]) -> set[str]:
    """Return the actions, those of the bucket's key among them."""
    actions = {_action(*operation) for operation in operations}
    for action in list(actions):
        actions |= OF_THE_KEY.get(action, set())
    return actions


def _action(service: str, operation: str) -> str:
    name = S3_ACTIONS.get(operation, operation) if service == "s3" else operation
    action = f"{_prefix(service)}:{name}"
    assert exists(action), f"{service}.{operation}: there is no action {action}"
    return action


@cache
def _prefix(service: str) -> str:
    signer = botocore.session.get_session().get_service_model(service).signing_name
    return PREFIXES.get(signer, signer)


def exists(action: str) -> bool:
    return _entry(action) is not None


def takes_a_resource(action: str) -> bool:
    """Whether a policy may name resources for an action; else it is `*`."""
    entry = _entry(action)
    assert entry is not None, action
    return bool(entry.get("Resources"))


def _entry(action: str) -> dict[str, Any] | None:
    prefix, _, name = action.partition(":")
    entry: dict[str, Any] | None = policy_data()[prefix]["Actions"].get(name.lower())
    return entry
