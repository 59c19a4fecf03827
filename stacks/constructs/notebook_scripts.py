"""The script that SageMaker runs at each start of the notebook, with this app's values in it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

ON_START = Path(__file__).resolve().parents[1] / "lifecycle" / "on-start.sh"

VALUES = "# VALUES\n"
"""The line of the script that the values replace."""

LONGEST_CONTENT = 16_384
"""Characters of a script as the API takes it: in base64, which makes four of three.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_NotebookInstanceLifecycleHook.html
"""

LONGEST_START_S = 300
"""Seconds after which SageMaker ends the script and fails the start.

https://docs.aws.amazon.com/sagemaker/latest/dg/notebook-lifecycle-config.html
"""


@dataclass(frozen=True, kw_only=True)
class OnStartValues:
    """What the script needs to know. Strings may be tokens; without FSx, its own are empty."""

    notebook_name: str
    region: str
    efs_dns_name: str
    efs_with_role: str
    """Id of EFS where only who mounts with a role is root on it; empty where anyone may be."""
    fsx_dns_name: str
    fsx_mount_name: str
    fsx_data_path: str
    """The folder that mirrors the bucket, such as `/data`."""
    source_bucket: str
    source_key: str
    source_sha256: str
    wheels: str
    """`s3://bucket/folder`; empty where packages come from PyPI."""
    idle_minutes: int
    mount_timeout_s: int = 60
    """How long a mount may take. A file system that is there answers within seconds."""
    download_timeout_s: int = 90
    """How long the source and the clients of the file systems may take to come, each."""


def render(values: OnStartValues) -> str:
    """Return the script with its values as quoted assignments: nothing in them is ever run."""
    script = ON_START.read_text(encoding="utf-8")
    before, line, after = script.partition(VALUES)
    if not line:
        raise ValueError(f"{ON_START.name} has no line {VALUES.strip()!r}")
    return before + "".join(_assignment(*item) for item in _items(values).items()) + after


def _items(values: OnStartValues) -> Mapping[str, str]:
    return {field.name: str(getattr(values, field.name)) for field in fields(values)}


def _assignment(name: str, value: str) -> str:
    return f"readonly {name.upper()}={shlex.quote(value)}\n"
