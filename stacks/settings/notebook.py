"""Settings of NotebookStack."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.group import SettingsGroup, none_if_empty, prefixed
from stacks.settings.notebook_types import SIZES

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateNotebookInstance.html
_NAME = r"[a-z0-9](-*[a-z0-9])*"
LONGEST_NAME = 63

SHORTEST_IDLE_MINUTES = 10
"""The instance needs some of them to start and to install what it runs."""


def _long_enough(minutes: int) -> int:
    if 0 < minutes < SHORTEST_IDLE_MINUTES:
        raise ValueError("it would stop the notebook while it starts")
    return minutes


def _offered(instance_type: str) -> str:
    _, _, rest = instance_type.partition("ml.")
    family, _, size = rest.partition(".")
    if size not in SIZES.get(family, ()):
        raise ValueError(
            f"notebooks on Amazon Linux 2023 are offered in {', '.join(SIZES)}"
            if family not in SIZES
            else f"{family} is offered in {', '.join(SIZES[family])}"
        )
    return instance_type


class NotebookSettings(SettingsGroup):
    """The notebook instance."""

    model_config = prefixed("notebook_")

    name: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=rf"^{_NAME}$",
        max_length=LONGEST_NAME,
        description="1 to 63 small letters, digits and hyphens, no hyphen at the ends",
    )
    """Without it: the value of `project`, in small letters."""

    instance_type: Annotated[str, AfterValidator(_offered)] = Field(
        default="ml.m5.2xlarge",
        description="an instance type that SageMaker offers for notebooks, such as ml.m5.2xlarge",
    )

    volume_gib: int = Field(default=200, ge=200, le=500, description="200 to 500")
    """Of the disk at /home/ec2-user/SageMaker, which outlives stops. It can only grow."""

    zone: int | None = Field(default=None, ge=1, le=6, description="1 to the number of zones")
    """The number of the private subnet. Without it: the one of FSx for Lustre, or the first."""

    root_access: bool = Field(default=False, description="true or false")
    """Whether the notebook's user may become root."""

    idle_minutes: Annotated[int, AfterValidator(_long_enough)] = Field(
        default=120,
        ge=0,
        le=10080,
        description=f"{SHORTEST_IDLE_MINUTES} to 10080, or 0 for never",
    )
    """After so many minutes without anything running, the instance stops itself."""

    git_repository: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=r"^https://[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?(/[A-Za-z0-9._~-]+)+/?$",
        max_length=1024,
        description="an https address of a Git repository without user and token",
    )
    """SageMaker clones it beside the user's notebooks."""

    git_branch: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9._/-]*$",
        max_length=1024,
        description="the name of a branch: letters, digits and . _ / -",
    )
    """Without it: the repository's default branch."""

    git_secret_arn: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+$",
        max_length=2048,
        description="the ARN of a secret in Secrets Manager that holds username and password",
    )
    """Of a private repository; its text is `{"username": "...", "password": "..."}`, the password
    an access token. The secret is yours: the stacks only read it."""

    wheels: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$",
        max_length=512,
        description="a folder of the bucket, such as notebook/wheels, without slashes at its ends",
    )
    """Where the notebook finds its Python packages, instead of on PyPI."""

    @model_validator(mode="after")
    def _git_settings_go_together(self) -> Self:
        for key in ("git_branch", "git_secret_arn"):
            if getattr(self, key) and not self.git_repository:
                raise ValueError(
                    f"notebook_{key} is given without notebook_git_repository: set both, or neither"
                )
        return self

    def name_for(self, project: str) -> str:
        """Return the instance's name."""
        return self.name or re.sub(r"-+$", "", project.lower())
