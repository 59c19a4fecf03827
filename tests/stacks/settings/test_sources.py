"""cdk.json, and what the CDK CLI hands over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacks.settings.sources import (
    CONTEXT_VARIABLE,
    OUTDIR_VARIABLE,
    OVERFLOW_VARIABLE,
    context_of_cdk_json,
    context_of_cli,
    make_outdir,
)
from training.errors import UsageError

STRENGTHS_KEY = "@aws-cdk/core:defaultCrossStackReferences"
WRONG_STRENGTH = f"context key {STRENGTHS_KEY} = 'bogus': allowed is weak, both or strong"
WRONG_KEY = "context key fsx = {'$jsii.enum': 'x/y'} holds a name that begins with $jsii., which"


def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "cdk.json"
    path.write_text('{"context": {"fsx": "none"}}', "utf-8-sig")
    assert context_of_cdk_json(path) == {"fsx": "none"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "cdk.json is no valid JSON (Expecting property name"),
        (b"", "cdk.json is no valid JSON (Expecting value"),
        (b"[1]", "cdk.json = [1] is no JSON object: what is wanted is"),
        (b"{}", 'cdk.json has no "context" object'),
        (b'{"context": []}', 'cdk.json has no "context" object'),
        (b'{"context": {"fsx": {"$jsii.enum": "x/y"}}}', WRONG_KEY),
        (json.dumps({"context": {STRENGTHS_KEY: "bogus"}}).encode(), WRONG_STRENGTH),
    ],
)
def test_a_cdk_json_of_another_form_is_told(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "cdk.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        context_of_cdk_json(path)
    assert str(error.value).startswith(said)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff", "cannot be read ('utf-8'"), (None, "(No such file or directory)")],
)
def test_a_cdk_json_that_cannot_be_read_is_told(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "cdk.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        context_of_cdk_json(path)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", f"{CONTEXT_VARIABLE} is no valid JSON (Expecting property name"),
        ("[1]", f"{CONTEXT_VARIABLE} = [1] is no JSON object: what is wanted is"),
        ('"x"', f"{CONTEXT_VARIABLE} = 'x' is no JSON object"),
        ("[" * 100_000, f"{CONTEXT_VARIABLE} is no valid JSON"),
        ('{"fsx": {"$jsii.enum": "x/y"}}', WRONG_KEY),
        ('{"fsx": [{"a": {"$jsii.byref": "x"}}]}', "context key fsx = [{'a': {'$jsii.byref'"),
        (json.dumps({STRENGTHS_KEY: "bogus"}), WRONG_STRENGTH),
    ],
)
def test_what_the_cli_does_not_hand_over_so_is_told(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        context_of_cli({CONTEXT_VARIABLE: text})
    assert str(error.value).startswith(said)
    assert len(str(error.value).splitlines()) == 1


def test_context_too_long_for_a_variable_comes_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "context.json"
    path.write_text('{"fsx": "none", "efs_id": ""}')
    given = {OVERFLOW_VARIABLE: str(path), CONTEXT_VARIABLE: '{"fsx": "create"}'}
    assert context_of_cli(given) == {"fsx": "create", "efs_id": ""}
    assert context_of_cli({}) == {}


def test_the_folder_of_the_templates_is_made(tmp_path: Path) -> None:
    make_outdir({OUTDIR_VARIABLE: str(tmp_path / "a" / "b")})
    assert list((tmp_path / "a" / "b").iterdir()) == []
    make_outdir({})


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for folder in (file, file / "inside", Path("/proc/x")):
        with pytest.raises(UsageError, match="the templates cannot be written to CDK_OUTDIR = '"):
            make_outdir({OUTDIR_VARIABLE: str(folder)})
