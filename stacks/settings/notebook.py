"""Settings of NotebookStack."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.arns import SecretArn
from stacks.settings.git_rules import problems_of_address, problems_of_branch
from stacks.settings.group import OptionalText, SettingsGroup, checked_by, prefixed
from stacks.settings.notebook_types import SIZES

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateNotebookInstance.html
_NAME = r"[a-z0-9](-*[a-z0-9])*"
LONGEST_NAME = 63

DEFAULT_NAME = "distributed-mask-rcnn"
"""Not the value of `project`: another name is another instance, and the disk goes with the old one.
Who changes the value of a cost tag does not expect that."""

DEFAULT_WHEELS = "notebook/wheels"
"""Below bucket_prefix, where there is one."""

SHORTEST_IDLE_MINUTES = 10
"""The instance needs some of them to start and to install what it runs."""


def _long_enough(minutes: int) -> int:
    if 0 < minutes < SHORTEST_IDLE_MINUTES:
        raise ValueError("it would stop the notebook while it starts")
    return minutes


def _default_if_empty(name: Any) -> Any:
    return DEFAULT_NAME if name == "" else name


def _offered(instance_type: str) -> str:
    family, _, size = instance_type.removeprefix("ml.").partition(".")
    is_known = size in SIZES.get(family, ())
    if is_known and not instance_type.startswith("ml."):
        raise ValueError(f"SageMaker's types begin with ml.: did you mean ml.{instance_type}?")
    if not is_known:
        raise ValueError(
            f"notebooks on Amazon Linux 2023 are offered in {', '.join(SIZES)}"
            if family not in SIZES
            else f"{family} is offered in {', '.join(SIZES[family])}"
        )
    return instance_type


class NotebookSettings(SettingsGroup):
    """The notebook instance."""

    model_config = prefixed("notebook_")

    name: Annotated[str, BeforeValidator(_default_if_empty)] = Field(
        default=DEFAULT_NAME,
        pattern=rf"^{_NAME}$",
        max_length=LONGEST_NAME,
        description="1 to 63 small letters, digits and hyphens, no hyphen at the ends",
    )
    """A change makes another instance; the old one goes, and its disk with it."""

    instance_type: Annotated[str, AfterValidator(_offered)] = Field(
        default="ml.m5.2xlarge",
        description="an instance type that SageMaker offers for notebooks, such as ml.m5.2xlarge",
    )

    volume_gib: int = Field(default=200, ge=200, le=500, description="200 to 500")
    """Of the disk at /home/ec2-user/SageMaker, which outlives stops. It can only grow. The range
    is that of the templates that this app replaces, on purpose: data belongs on EFS or FSx."""

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

    git_repository: Annotated[OptionalText, AfterValidator(checked_by(problems_of_address))] = (
        Field(
            default=None,
            max_length=1024,
            description="an https address of a Git repository without user and token",
        )
    )
    """SageMaker clones it beside the user's notebooks."""

    git_branch: Annotated[OptionalText, AfterValidator(checked_by(problems_of_branch))] = Field(
        default=None,
        max_length=1024,
        description="the name of a branch: letters, digits and . _ / -",
    )
    """Without it: the repository's default branch."""

    git_secret_arn: SecretArn = Field(
        default=None,
        max_length=2048,
        description="the ARN of a secret in Secrets Manager that holds username and password",
    )
    """Of a private repository; its text is `{"username": "...", "password": "..."}`, the password
    an access token. The secret is yours: the stacks only read it."""

    wheels: OptionalText = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$",
        max_length=512,
        description="a folder of the bucket, such as notebook/wheels, without slashes at its ends",
    )
    """Where the notebook finds its Python packages, instead of on PyPI. Without it, where
    `internet_access` is false: `notebook/wheels`, below `bucket_prefix` if there is one."""

    @model_validator(mode="after")
    def _git_settings_go_together(self) -> Self:
        for key in ("git_branch", "git_secret_arn"):
            if getattr(self, key) and not self.git_repository:
                raise ValueError(
                    f"notebook_{key} is given without notebook_git_repository: set both, or neither"
                )
        return self
