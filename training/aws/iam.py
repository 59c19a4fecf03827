"""Roles and policies, and what they allow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.policy import Policy
from training.aws.request import ask, ask_all


class Iam:
    """AWS Identity and Access Management."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def role_arn(self, name: str) -> str | None:
        """Return a role's ARN, path included; None where there is none of that name."""
        try:
            arn: str = ask(self._client, "get_role", RoleName=name)["Role"]["Arn"]
        except AwsRefused as error:
            if error.code == "NoSuchEntity":
                return None
            raise
        return arn

    def trust(self, name: str) -> Policy | None:
        """Return the policy that says who may become a role; None where there is no such role."""
        try:
            role = ask(self._client, "get_role", RoleName=name)["Role"]
        except AwsRefused as error:
            if error.code == "NoSuchEntity":
                return None
            raise
        # botocore has read it already.
        return Policy.parse(json.dumps(role["AssumeRolePolicyDocument"]))

    def has_policy(self, arn: str) -> bool:
        """Return whether a managed policy is there."""
        try:
            ask(self._client, "get_policy", PolicyArn=arn)
        except AwsRefused as error:
            if error.code == "NoSuchEntity":
                return False
            raise
        return True

    def not_allowed(
        self,
        principal_arn: str,
        actions: Sequence[str],
        resource: str,
        context: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Return those actions that a user or role may not do, by its policies and boundaries.

        Nothing is done: IAM only evaluates. What the resource's own policy says is left out.

        Args:
            principal_arn: Of a user or role, not of a session.
            actions: Without wildcards, such as `s3:GetObject`.
            resource: An ARN, or `*`.
            context: Condition keys to their values.
        """
        entries = [
            {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
            for key, value in (context or {}).items()
        ]
        results = ask_all(
            self._client,
            "simulate_principal_policy",
            "EvaluationResults",
            PolicySourceArn=principal_arn,
            ActionNames=list(actions),
            ResourceArns=[resource],
            ContextEntries=entries,
        )
        return [found["EvalActionName"] for found in results if found["EvalDecision"] != "allowed"]
