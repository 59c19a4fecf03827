"""A request as people read it."""

from __future__ import annotations

from typing import Any

import pytest

from training.request_text import to_lines


@pytest.mark.parametrize(
    ("request_", "lines"),
    [
        ({"a": 1, "b": "text", "c": None, "d": True}, ["a: 1", "b: text", "c: none", "d: True"]),
        ({"a": {"b": {"c": 1}}}, ["a:", "  b:", "    c: 1"]),
        ({"a": {}, "b": [], "c": ()}, ["a: none", "b: none", "c: none"]),
        ({"argv": ("run", "a b", "$(x)")}, ["argv: run 'a b' '$(x)'"]),
        (
            {"Tags": [{"Key": "Project", "Value": "x"}, {"Key": "Job", "Value": "y"}]},
            ["Tags:", "- Key: Project, Value: x", "- Key: Job, Value: y"],
        ),
        (
            {"Input": [{"Name": "train", "Source": {"Uri": "s3://b/k"}}]},
            ["Input:", "- Name: train", "  Source:", "    Uri: s3://b/k"],
        ),
        ({"steps": [[16, 0.1], [24, None]]}, ["steps:", "- 16 0.1", "- 24 none"]),
        ({"a": "two\nlines\x1b[31m"}, ['a: "two\\nlines\\u001b[31m"']),
        ({"a": ["two\nlines"]}, ["""a: '"two\\nlines"'"""]),
    ],
)
def test_short_things_are_on_one_line_and_the_rest_is_indented(
    request_: dict[str, Any], lines: list[str]
) -> None:
    assert list(to_lines(request_)) == lines
