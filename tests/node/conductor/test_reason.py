"""What a reason may say outside of the cluster."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.conductor.reason import MOST_CHARACTERS, plain, secrets_of


def test_a_common_reason_stays_as_it_is() -> None:
    for reason in (
        "rank 1 on 127.0.0.3 ended with exit code 3 (after 2 attempts)",
        "stopped as asked, with a checkpoint at step 3",
        "KeyError: 'annotations'",
        "We currently do not have sufficient p4d.24xlarge capacity; see https://x.org/a",
    ):
        assert plain(reason, ()) == reason


def test_it_is_one_line_without_what_ends_a_text_of_json() -> None:
    assert plain('said "no"\n\tin C:\\data\x00 <job>', ()) == "said 'no' in C:/data (job)"


def test_a_long_one_is_cut() -> None:
    shown = plain("x" * 10_000, ())
    assert len(shown) == MOST_CHARACTERS
    assert shown.endswith("x…")


@given(st.text(max_size=200))
def test_whatever_a_job_says_it_can_be_put_into_json_unquoted(reason: str) -> None:
    shown = plain(reason, ())
    assert json.loads(f'{{"reason": "{shown}"}}') == {"reason": shown}


def test_what_a_user_gave_the_job_in_variables_is_not_told() -> None:
    variables = {"WANDB": "abc123xyz", "LONGER": "abc123xyz-and-more", "NCCL_DEBUG": "INFO", "N": 1}
    secrets = secrets_of(variables)
    assert secrets == ("abc123xyz-and-more", "abc123xyz")
    assert plain("cannot sign in as abc123xyz-and-more, abc123xyz: INFO", secrets) == (
        "cannot sign in as ***, ***: INFO"
    )


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("https://jo:pw@host.example/x failed", "https://***@host.example/x failed"),
        (
            "GET https://b.s3.amazonaws.com/k?X-Amz-Signature=0f0f&X-Amz-Date=1 gave 403",
            "GET https://b.s3.amazonaws.com/k?*** gave 403",
        ),
        ("key AKIAIOSFODNN7EXAMPLE is not known", "key *** is not known"),
        ("aws_secret_access_key=wJalrXUtnFEMI/K7 refused", "aws_secret_access_key=*** refused"),
        ("{'api_key': 'k-123', 'n': 1}", "{'api_key': ***', 'n': 1}"),
        ("Authorization: Bearer eyJh.x.y was refused", "Authorization: *** was refused"),
        ("HF_TOKEN = hf_abc", "HF_TOKEN = ***"),
    ],
)
def test_what_looks_like_a_secret_is_not_told(reason: str, shown: str) -> None:
    assert plain(reason, ()) == shown
