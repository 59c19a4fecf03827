"""Settings of the notebook, alone and with those of other parts."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest

from stacks.settings import Settings
from stacks.settings.notebook import NotebookSettings
from stacks.settings.notebook_types import SIZES
from stacks.settings.text import shown
from training.errors import UsageError

NOT_ON_AL2023 = {"p2", "p3", "p3dn", "g3", "inf1"}
"""https://docs.aws.amazon.com/sagemaker/latest/dg/nbi-al2.html"""

GIT = "https://git.example.org/vision/notebooks.git"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:git-AbCdEf"


def message_of(context: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    return str(error.value)


def test_the_types_are_those_of_sagemaker_that_amazon_linux_2023_runs_on() -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    offered = {
        tuple(name.removeprefix("ml.").split("."))
        for name in model.shape_for("InstanceType").enum  # type: ignore[attr-defined]
    }
    ours = {(family, size) for family, sizes in SIZES.items() for size in sizes}
    assert ours == {(family, size) for family, size in offered if family not in NOT_ON_AL2023}


def test_defaults_are_those_of_the_old_template_but_for_the_rights() -> None:
    settings = NotebookSettings()
    assert (settings.instance_type, settings.volume_gib) == ("ml.m5.2xlarge", 200)
    assert settings.root_access is False


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ({}, "distributed-mask-rcnn"),
        ({"project": "vision"}, "distributed-mask-rcnn"),
        ({"notebook_name": ""}, "distributed-mask-rcnn"),
        ({"project": "vision", "notebook_name": "my-notebook"}, "my-notebook"),
    ],
)
def test_another_cost_tag_makes_no_other_notebook(context: dict[str, str], name: str) -> None:
    assert Settings.from_context(context).notebook.name == name


@pytest.mark.parametrize(
    ("context", "folder"),
    [
        ({}, None),
        ({"notebook_wheels": "wheels"}, "wheels"),
        ({"internet_access": "false"}, "notebook/wheels"),
        ({"internet_access": "false", "bucket_prefix": "teams/a"}, "teams/a/notebook/wheels"),
        ({"internet_access": "false", "notebook_wheels": "wheels"}, "wheels"),
    ],
)
def test_without_internet_packages_come_from_a_folder_of_the_bucket(
    context: dict[str, str], folder: str | None
) -> None:
    assert Settings.from_context(context).notebook_wheels == folder


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("notebook_name", "Vision", "allowed is 1 to 63 small letters, digits and hyphens"),
        ("notebook_name", "vision-", "allowed is 1 to 63 small letters"),
        ("notebook_name", "v" * 64, "allowed is 1 to 63 small letters"),
        ("notebook_instance_type", "ml.m5.3xlarge", "m5 is offered in xlarge, 2xlarge, 4xlarge"),
        ("notebook_instance_type", "m5.4xlarge", "did you mean ml.m5.4xlarge?"),
        ("notebook_instance_type", "m5", "m5 is offered in xlarge, 2xlarge"),
        ("notebook_instance_type", "p3.2xlarge", "notebooks on Amazon Linux 2023 are offered"),
        ("notebook_instance_type", "ml.p3.2xlarge", "notebooks on Amazon Linux 2023 are offered"),
        ("notebook_volume_gib", "199", "allowed is 200 to 500"),
        ("notebook_volume_gib", "501", "allowed is 200 to 500"),
        ("notebook_idle_minutes", "9", "it would stop the notebook while it starts; allowed is 10"),
        ("notebook_idle_minutes", "-1", "allowed is 10 to 10080, or 0 for never"),
        ("notebook_root_access", "maybe", "allowed is true or false"),
        ("notebook_zone", "0", "allowed is 1 to the number of zones"),
        ("notebook_git_repository", "git@example.org:a/b.git", "allowed is an https address"),
        ("notebook_git_repository", "https://example.org/a/b?x=$(id)", "allowed is an https"),
        ("notebook_git_repository", "https://a..b/c", "a..b is no name of a host"),
        ("notebook_git_repository", "https://a.-b/c", "a.-b is no name of a host"),
        ("notebook_git_repository", "https://a:65536/b", "65536 is no port: they are 1 to 65535"),
        ("notebook_git_repository", "https://a:0/b", "0 is no port"),
        ("notebook_git_branch", "a..b", "no branch's name holds .."),
        ("notebook_git_branch", "a.", "no branch's name ends with a dot"),
        ("notebook_git_branch", "a//b", "between its slashes nothing is empty"),
        ("notebook_git_branch", "a/", "between its slashes nothing is empty"),
        ("notebook_git_branch", "a/.b", "between its slashes nothing is empty, begins with a dot"),
        ("notebook_git_branch", "a.lock/b", "or ends with .lock"),
        ("notebook_git_branch", "a branch", "allowed is the name of a branch"),
        ("notebook_git_branch", "--upload-pack=id", "allowed is the name of a branch"),
        ("notebook_git_secret_arn", "my-secret", "allowed is the ARN of a secret"),
        (
            "notebook_git_secret_arn",
            SECRET.removesuffix("-AbCdEf"),
            "take what aws secretsmanager describe-secret prints, with the hyphen and the 6",
        ),
        ("notebook_wheels", "/wheels", "allowed is a folder of the bucket"),
        ("notebook_wheels", "../wheels", "allowed is a folder of the bucket"),
        ("notebook_wheels", "wheels'; id; '", "allowed is a folder of the bucket"),
    ],
)
def test_a_wrong_value_is_told_with_its_key_and_what_is_allowed(
    key: str, value: str, reason: str
) -> None:
    message = message_of({key: value})
    assert message.startswith(f"context key {key} = {shown(value)}: ")
    assert reason in message


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (
            {"notebook_git_branch": "main"},
            "notebook_git_branch is given without notebook_git_repository: set both, or neither",
        ),
        (
            {"notebook_git_secret_arn": SECRET},
            "notebook_git_secret_arn is given without notebook_git_repository: set both, or "
            "neither",
        ),
        (
            {"notebook_zone": "4"},
            "notebook_zone = 4, but there are 3 private subnets: take 1 to 3",
        ),
        (
            {"bucket_prefix": "ml-platform", "notebook_wheels": "wheels"},
            "notebook_wheels = wheels is not below bucket_prefix = ml-platform, which is all of "
            "the bucket that the notebook may read: take ml-platform/wheels",
        ),
        (
            {
                "internet_access": "false",
                "notebook_wheels": "wheels",
                "notebook_git_repository": GIT,
            },
            f"notebook_git_repository = {GIT} cannot be reached with internet_access = false: "
            "leave it out, set internet_access to true, or name a VPC with a way to it (vpc_id)",
        ),
        (
            {
                "aws_region": "eu-central-1",
                "notebook_git_repository": GIT,
                "notebook_git_secret_arn": SECRET,
            },
            f"notebook_git_secret_arn = {SECRET} is of another region than aws_region = "
            "eu-central-1: make the secret there too, and name that one",
        ),
    ],
)
def test_what_does_not_go_together_is_told(context: dict[str, str], said: str) -> None:
    assert message_of(context) == f"context: {said}"


def test_what_a_closed_vpc_of_others_reaches_is_not_judged() -> None:
    """It may have a Git server of its own behind a gateway."""
    settings = Settings.from_context(
        {
            "vpc_id": "vpc-0123456789abcdef0",
            "private_subnets": "subnet-0123456789abcdef1:us-west-2a:rtb-0123456789abcdef1,"
            "subnet-0123456789abcdef2:us-west-2b:rtb-0123456789abcdef1",
            "internet_access": "false",
            "notebook_wheels": "wheels",
            "notebook_git_repository": GIT,
        }
    )
    assert settings.notebook.git_repository == GIT


def test_a_token_in_an_address_is_not_repeated() -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context({"notebook_git_repository": "https://me:s3cret@host/it"})
    assert "s3cret" not in str(error.value)
    assert "without user and token" in str(error.value)
    assert "notebook_git_repository = 'https://***@host/it'" in str(error.value)
