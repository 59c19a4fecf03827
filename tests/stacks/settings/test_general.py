"""Account, region, tags, protection and the bounds of roles."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.settings import Settings
from training.errors import UsageError

OWN_TAGS = ("Project", "Job")

tag_text = st.text(
    string.ascii_letters + string.digits + " +-.:/@_", min_size=1, max_size=30
).filter(str.strip)


def refusal(context: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    return str(error.value)


def test_without_settings_the_place_is_left_to_who_deploys() -> None:
    general = Settings.from_context({}).general
    assert (general.aws_account, general.aws_region) == (None, None)
    assert (general.project, general.tags) == ("distributed-mask-rcnn", {})
    assert general.termination_protection is False
    assert (general.permissions_boundary, general.role_path) == (None, "/")


@given(
    tags=st.lists(
        st.tuples(
            tag_text.filter(
                lambda key: not key.lower().startswith("aws:") and key.title() not in OWN_TAGS
            ),
            tag_text,
        ),
        max_size=5,
        unique_by=lambda pair: pair[0].lower(),
    ).map(dict)
)
def test_tags_are_read_from_json_as_they_are(tags: dict[str, str]) -> None:
    assert Settings.from_context({"tags": json.dumps(tags)}).general.tags == tags


def test_tags_are_read_from_pairs() -> None:
    settings = Settings.from_context({"tags": "Team=Vision, CostCenter=a=b,"})
    assert settings.general.tags == {"Team": "Vision", "CostCenter": "a=b"}


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"aws_account": "12345"}, "context key aws_account = '12345': allowed is an account id"),
        (
            {"aws_account": "123456789012"},
            "aws_account is given without aws_region. The templates name both or neither",
        ),
        ({"aws_region": "us-west"}, "context key aws_region = 'us-west': allowed is the name"),
        ({"project": "1st"}, "context key project = '1st': allowed is 1 to 63 letters"),
        ({"tags": "Team"}, "context key tags = 'Team': each item is name=value; allowed is"),
        ({"tags": "Project=x"}, "the tag Project is set by the key project"),
        ({"tags": "Job=x"}, "the tag Job is each job's own"),
        ({"tags": "aws:x=y"}, "the tag name 'aws:x' begins with aws:"),
        ({"tags": "a=<b>"}, "the tag 'a=<b>' has a character that AWS does not take"),
        ({"tags": "a=b\nc"}, r"the tag 'a=b\nc' has a character that AWS does not take"),
        ({"tags": {"a": "x" * 257}}, "the value of tag 'a' has 257 characters"),
        ({"tags": "a="}, "the tag 'a' has no value"),
        ({"tags": {"a": " "}}, "the tag 'a' has no value"),
        ({"tags": {" ": "a"}}, "the tag name ' ' has 0 characters"),
        ({"tags": "a=b,a=c"}, "a name is there twice"),
        ({"tags": "Team=b,team=c"}, "the tag names 'Team' and 'team' differ only in case"),
        ({"tags": "project=b"}, "the tag names 'Project' and 'project' differ only in case"),
        ({"tags": "JOB=b"}, "the tag names 'Job' and 'JOB' differ only in case"),
        ({"tags": {"a": {"b": "c"}}}, "context key tags['a'] = {'b': 'c'}: allowed is at most"),
        ({"tags": {"a": 1}}, "context key tags['a'] = 1: allowed is at most"),
        ({"tags": {"x" * 129: "a"}}, "has 129 characters"),
        ({"tags": {"": "a"}}, "the tag name '' has 0 characters"),
        ({"tags": {str(n): "a" for n in range(41)}}, "41 tags are too many"),
        ({"tags": "{"}, "context key tags = '{'"),
        ({"permissions_boundary": "boundary"}, "allowed is the ARN of an IAM policy"),
        ({"permissions_boundary": "arn:awsnonsense:iam::123456789012:policy/b"},
         "it is not the ARN of a policy; allowed is the ARN"),
        ({"role_path": "training"}, "allowed is an IAM path that begins and ends with a slash"),
        ({"role_path": "//"}, "allowed is an IAM path that begins and ends with a slash"),
        ({"role_path": "/a b/"}, "allowed is an IAM path that begins and ends with a slash"),
        ({"role_path": "/$(id)/"}, "allowed is an IAM path that begins and ends with a slash"),
        ({"role_path": "/`id`/"}, "allowed is an IAM path that begins and ends with a slash"),
        ({"role_path": "/'a'/"}, "allowed is an IAM path that begins and ends with a slash"),
        ({"role_path": "/aws-service-role/a/"}, "/aws-service-role/ is AWS's own"),
        ({"role_path": "/aws-reserved/"}, "/aws-reserved/ is AWS's own"),
        ({"termination_protection": "maybe"}, "allowed is true or false"),
        ({"availability_zones": "us-west-2a,us-west-2b,us-west-2c", "aws_region": "us-east-1"},
         "the zone us-west-2a is not in aws_region us-east-1"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_in_one_line(context: dict[str, Any], reason: str) -> None:
    message = refusal(context)
    assert reason in message
    assert "\n" not in message


def test_an_empty_text_takes_back_what_cdk_json_sets() -> None:
    empty = {"aws_account": "", "aws_region": "", "permissions_boundary": "", "tags": ""}
    assert Settings.from_context(empty) == Settings()


def test_no_key_belongs_to_two_groups() -> None:
    keys = [key for group in Settings.groups().values() for key in group.allowed()]
    assert len(keys) == len(set(keys))


def test_every_key_says_what_is_allowed() -> None:
    assert [key for key, text in Settings.allowed().items() if not text] == []
