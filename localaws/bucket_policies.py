"""Bucket policies as far as moto can judge them."""

from __future__ import annotations

import json
from typing import Any

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket


def judge(bucket: FakeBucket, action: str, resource: str) -> Any:
    """Return whether a bucket's policy permits an action.

    moto knows nothing of a request but its action and resource, and takes a condition that it
    cannot judge as a refusal: a policy that denies requests without TLS would deny all. Statements
    with conditions are left out; what reaches this server comes from this machine only.
    """
    if bucket.policy is None:
        return PermissionResult.NEUTRAL
    policy = json.loads(bucket.policy)
    statements = policy["Statement"]
    statements = statements if isinstance(statements, list) else [statements]
    judged = {**policy, "Statement": [each for each in statements if "Condition" not in each]}
    return IAMPolicy(json.dumps(judged)).is_action_permitted(action, resource)


def may_take_logs(target_bucket: FakeBucket, target_prefix: str | None) -> bool:
    """Accept any bucket as the target of access logs.

    moto asks for a policy on it first. S3 does not: CDK's policy names the logged bucket, so that
    it can only come after.
    """
    return True
