"""Tokens in messages."""

from __future__ import annotations

import pytest

from training.redaction import redacted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:tok@host/a is wrong", "https://***@host/a is wrong"),
        ("'ssh://tok@host/a'", "'ssh://***@host/a'"),
        ("https://u:a/b@c@host/a", "https://***@host/a"),
        ("https://host/a and me@host", "https://host/a and me@host"),
        ("https://a@x 'https://b@y'", "https://***@x 'https://***@y'"),
        ("nothing", "nothing"),
    ],
)
def test_a_url_names_no_user(text: str, shown: str) -> None:
    assert redacted(text) == shown
