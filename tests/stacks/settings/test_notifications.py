"""Settings of who is told what happens to jobs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.settings import Settings
from stacks.settings.notifications import ENDS, MOST_EMAILS, NotificationSettings
from training.errors import UsageError

SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hook-AbCdEf"


def read(context: dict[str, Any]) -> NotificationSettings:
    return Settings.from_context(context).notifications


def message_of(context: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nobody_is_told_anything_by_default() -> None:
    assert not read({}).is_wanted
    assert read({}).states == ENDS == ("completed", "failed", "stopped")


@pytest.mark.parametrize(
    ("context", "emails"),
    [
        ({"notify_emails": "jo@example.org, Vision+ml@mail.example.org"}, 2),
        ({"notify_emails": ["jo@example.org"]}, 1),
        ({"notify_webhook_secret_arn": SECRET}, 0),
    ],
)
def test_people_or_a_webhook_are_enough(context: dict[str, Any], emails: int) -> None:
    assert read(context).is_wanted
    assert len(read(context).emails) == emails


@pytest.mark.parametrize("context", [{"notify_emails": ""}, {"notify_webhook_secret_arn": ""}])
def test_an_empty_text_takes_back_what_cdk_json_sets(context: dict[str, str]) -> None:
    assert not read(context).is_wanted
    assert read({**context, "notify_states": ""}).states == ENDS


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (
            {"notify_emails": "jo"},
            "context key notify_emails = 'jo': 'jo' is no address; allowed is e-mail addresses: "
            "A,B,C; at most 20",
        ),
        ({"notify_emails": "jo@localhost"}, "'jo@localhost' is no address"),
        ({"notify_emails": "Jo <jo@example.org>"}, "is no address"),
        ({"notify_emails": "jo@example.org\nx@example.org"}, "is no address"),
        ({"notify_emails": "jo@example..org"}, "is no address"),
        ({"notify_emails": f"{'a' * 65}@example.org"}, "is longer than an address can be"),
        ({"notify_emails": "jo@example.org,JO@example.org"}, "an address is there twice"),
        (
            {"notify_emails": [f"jo{number}@example.org" for number in range(MOST_EMAILS + 1)]},
            "21 are more than 20: name a mailing list",
        ),
        (
            {"notify_emails": "jo@example.org", "notify_states": "ended"},
            "context key notify_states = 'ended': allowed is some of started, completed, failed, "
            "stopped: A,B,C",
        ),
        (
            {"notify_emails": "jo@example.org", "notify_states": "failed,failed"},
            "one is there twice",
        ),
        ({"notify_emails": "jo@example.org", "notify_states": []}, "it names nothing to tell"),
        (
            {"notify_webhook_secret_arn": "https://hooks.example.org/secret"},
            "it is not the whole ARN of a secret",
        ),
        (
            {"notify_webhook_secret_arn": SECRET.removesuffix("-AbCdEf")},
            "it is not the whole ARN of a secret",
        ),
    ],
)
def test_a_wrong_value_is_named(context: dict[str, Any], reason: str) -> None:
    assert reason in message_of(context)


def test_states_without_anybody_to_tell_are_refused() -> None:
    assert message_of({"notify_states": "failed"}) == (
        "context: notify_states is given, and nobody to tell: set notify_emails or "
        "notify_webhook_secret_arn too, or leave it out"
    )


def test_the_secret_is_in_the_region_of_the_stacks() -> None:
    said = message_of({"notify_webhook_secret_arn": SECRET, "aws_region": "eu-central-1"})
    assert said == (
        f"context: notify_webhook_secret_arn = {SECRET} is of another region than aws_region = "
        "eu-central-1: make the secret there too, and name that one"
    )
    assert read({"notify_webhook_secret_arn": SECRET, "aws_region": "us-west-2"}).is_wanted


@given(st.lists(st.emails(), max_size=MOST_EMAILS + 1))
def test_any_list_of_addresses_is_taken_whole_or_refused_in_one_line(addresses: list[str]) -> None:
    try:
        taken = read({"notify_emails": addresses}).emails
    except UsageError as error:
        assert "\n" not in str(error)
        assert str(error).startswith("context key notify_emails")
    else:
        assert list(taken) == addresses
