"""The context of a deploy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training.errors import UsageError
from training.preflight.stacks.context import read_context


def write(path: Path, content: object) -> None:
    path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_the_strongest_source_wins(project: Path, tmp_path: Path) -> None:
    write(tmp_path / ".cdk.json", {"context": dict.fromkeys("abcd", "home")})
    write(project / "cdk.context.json", dict.fromkeys("bcd", "kept"))
    write(project / "cdk.json", {"app": "x", "context": dict.fromkeys("cd", "project")})
    context = read_context(project, tmp_path, ["d=given", "e=x=y", "f="])
    assert context == {
        "a": "home",
        "b": "kept",
        "c": "project",
        "d": "given",
        "e": "x=y",
        "f": "",
    }


def test_files_that_are_not_there_are_empty(project: Path, tmp_path: Path) -> None:
    assert read_context(project, tmp_path, []) == {}


@pytest.mark.parametrize("assignment", ["vpc_id", "=x", ""])
def test_an_assignment_without_key_or_value_is_refused(
    project: Path, tmp_path: Path, assignment: str
) -> None:
    with pytest.raises(UsageError, match=f"^-c {assignment}: not of the form key=value"):
        read_context(project, tmp_path, [assignment])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cdk.json: not JSON"),
        pytest.param("[" * 100_000, "cdk.json: not JSON", id="deep"),
        ([], "cdk.json: expected a JSON object"),
        ({"context": []}, "cdk.json: context is no JSON object"),
    ],
)
def test_a_file_of_another_form_is_one_error_that_names_it(
    project: Path, tmp_path: Path, content: object, message: str
) -> None:
    write(project / "cdk.json", content)
    with pytest.raises(UsageError, match=message):
        read_context(project, tmp_path, [])


def test_a_token_in_what_is_no_assignment_is_not_repeated(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"-c https://\*\*\*@host/it: not of the form"):
        read_context(project, tmp_path, ["https://me:s3cret@host/it"])
