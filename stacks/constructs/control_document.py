"""How a request reaches the program on a node: a document of Systems Manager."""

from __future__ import annotations

from aws_cdk import aws_ssm as ssm
from constructs import Construct

PROGRAM = "/opt/mask-rcnn/bin/mask-rcnn-node"

ACTIONS = ("submit", "status", "list", "logs", "stop", "health", "replace")

REQUEST = "^[A-Za-z0-9+/=]{0,60000}$"
"""Base64 of JSON: nothing in it means anything to a shell."""

LONGEST_RUN_S = 1800
"""Seconds that an action may take; a check of every node's health takes the longest."""


class ControlDocument(Construct):
    """A document with one constant line, so that whoever may send it may run nothing else.

    L1, since CDK has no L2 of them.

    Attributes:
        name: As CloudFormation made it.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        document = ssm.CfnDocument(
            self,
            "Document",
            document_type="Command",
            document_format="JSON",
            target_type="/AWS::EC2::Instance",
            # Else a change makes another document, of another name, while commands still run.
            update_method="NewVersion",
            content=_content(),
        )
        self.name = document.ref


def _content() -> dict[str, object]:
    return {
        "schemaVersion": "2.2",
        "description": "Hands a request of the launcher to the program on a node of the cluster",
        "parameters": {
            "Action": {
                "type": "String",
                "description": "What to do",
                "allowedValues": list(ACTIONS),
            },
            "Request": {
                "type": "String",
                "description": "Its JSON in base64",
                "default": "",
                "allowedPattern": REQUEST,
            },
        },
        "mainSteps": [
            {
                "action": "aws:runShellScript",
                "name": "request",
                "precondition": {"StringEquals": ["platformType", "Linux"]},
                "inputs": {
                    "timeoutSeconds": str(LONGEST_RUN_S),
                    "runCommand": [f"{PROGRAM} {{{{ Action }}}} {{{{ Request }}}}"],
                },
            }
        ],
    }
