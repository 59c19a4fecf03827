"""The variables that point the CDK CLI, boto3 and the launcher at a local AWS."""

from __future__ import annotations

import shlex
from pathlib import Path

ACCOUNT_ID = "123456789012"
"""moto's account, whatever the credentials."""

DEFAULT_REGION = "us-east-1"


def variables(endpoint: str, file_systems: Path, region: str) -> dict[str, str]:
    """Return name to value.

    Args:
        endpoint: For example `http://127.0.0.1:5566`.
        file_systems: The folder that holds one folder for each file system.
        region: Where stacks are deployed and looked for.
    """
    return {
        "AWS_ENDPOINT_URL": endpoint,
        # moto accepts any; these are the placeholders of AWS's documentation.
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        # A profile or instance role of the user's must not win over the placeholders.
        "AWS_EC2_METADATA_DISABLED": "true",
        "MASK_RCNN_MOUNTS": str(file_systems),
        # The CDK CLI reads its options from CDK_*. Nothing here costs or exposes anything, so
        # nobody needs to be asked.
        "CDK_REQUIRE_APPROVAL": "never",
    }


def as_shell(values: dict[str, str]) -> str:
    """Return `export` lines for `eval "$(python -m localaws env)"`."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
    # Temporary credentials of a real account would be sent along with the placeholder key.
    return "\n".join(["unset AWS_PROFILE AWS_SESSION_TOKEN", *lines])
