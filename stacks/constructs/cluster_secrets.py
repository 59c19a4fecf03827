"""What the cluster's nodes keep in AWS: their log, and the keys that they trust each other by."""

from __future__ import annotations

from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stacks.constructs.log_key import let_cloudwatch_logs_use

# The log says how a model was made. Without its key it could not be read.
_KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


class ClusterSecrets(Construct):
    """An encrypted log group, which outlives the stack, and a secret, which goes with it.

    The first head makes the keys and puts them in. Nothing but this cluster's nodes knows them, so
    that they are worth nothing without it; Secrets Manager keeps a deleted secret for a while.

    Attributes:
        key: Encrypts both.
        log_group: Of what jobs print, and of the nodes' set-up.
        secret_arn: Of the SSH keys.
    """

    def __init__(self, scope: Construct, construct_id: str, *, retention_days: int) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Encrypts the logs of the training cluster and its SSH keys",
            enable_key_rotation=True,
            removal_policy=_KEPT,
        )
        let_cloudwatch_logs_use(self.key)
        self.log_group = logs.LogGroup(
            self, "LogGroup", encryption_key=self.key, removal_policy=_KEPT
        )
        # The construct takes an enumeration of names such as TWO_WEEKS; the settings have days.
        group = cast(logs.CfnLogGroup, self.log_group.node.default_child)
        group.retention_in_days = retention_days
        # L1: the L2 makes up a value, which would be a key of nobody.
        self.secret_arn = secretsmanager.CfnSecret(
            self,
            "SshKeys",
            description="The SSH keys of the training cluster, made by its head node",
            kms_key_id=self.key.key_arn,
        ).ref
