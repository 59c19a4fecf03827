"""What goes along to wherever a copy runs, and what comes back."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.data.on.samples import errand, of_task, stage_request
from training.data.__main__ import app
from training.data.here import Outcome
from training.data.on import elsewhere
from training.data.on.answer import MARK, Answer, as_it_left
from training.data.on.errand import of_stage, of_verify
from training.data.places import Place
from training.data.request import StageRequest
from training.errors import (
    AwsError,
    Interrupted,
    JobFailed,
    PreflightError,
    TrainingError,
    UsageError,
)

PLACES = st.sampled_from(list(Place))


def read_back(arguments: list[str]) -> StageRequest:
    """Return the request that the command line there reads."""
    command = typer.main.get_command(app)
    stage = command.get_command(typer.Context(command), "stage")  # type: ignore[attr-defined]
    assert arguments[0] == "stage"
    values = stage.make_context("stage", arguments[1:]).params
    assert values["output_format"] == "json"
    names = ("source", "from_place", "to", "path", "jobs", "delete", "preload", "release")
    return StageRequest(**{name: values[name] for name in names})


@settings(max_examples=25, deadline=None)
@given(
    origin=PLACES,
    to=PLACES,
    source=st.none() | st.sampled_from(["s3://bucket", "s3://bucket/a b/ü"]),
    path=st.sampled_from(["train", "a/b c", "ü+#%"]),
    jobs=st.integers(1, 64),
    delete=st.booleans(),
)
def test_the_command_there_reads_the_same_request(
    *, origin: Place, to: Place, source: str | None, path: str, jobs: int, delete: bool
) -> None:
    if source is None and origin is to:
        return
    from_place = None if source else origin
    asked = {"from_place": from_place, "to": to, "source": source, "path": path, "jobs": jobs}
    sent = errand(**asked, delete=delete)
    assert sent.arguments[0] == "data"
    assert read_back(sent.arguments[1:]) == stage_request(**asked, delete=delete)


@pytest.mark.parametrize(("to", "flag"), [("fsx", "preload"), ("s3", "release")])
def test_flags_of_fsx_go_along(to: str, flag: str) -> None:
    from_place = Place.FSX if flag == "release" else None
    asked = {"to": Place(to), "from_place": from_place, flag: True}
    sent = errand(**asked)
    assert f"--{flag}" in sent.arguments
    assert read_back(sent.arguments[1:]) == stage_request(**asked)


def test_a_comparison_goes_along_too() -> None:
    sent = of_task(of_verify("s3://bucket/a b", "efs:train", jobs=4))
    assert sent.arguments == [
        *("data", "verify", "s3://bucket/a b", "efs:train", "--jobs", "4", "--format", "json")
    ]
    assert sent.places == (Place.EFS,)
    assert of_task(of_verify("fsx:", "efs:", jobs=4)).places == (Place.EFS, Place.FSX)
    with pytest.raises(UsageError, match=r"\./here: is a folder of this machine"):
        of_verify("efs:", "./here", jobs=4)


def test_outputs_and_mounts_go_along_as_texts() -> None:
    told = errand().told({Place.EFS: "/efs"})
    assert json.loads(told["mounts"]) == {"fs-0123456789abcdef0": "/efs"}
    outputs = json.loads(told["outputs"])["StorageStack"]
    assert outputs["BucketName"] == "bucket"
    assert told["region"] == "us-west-2"
    # SageMaker takes 2,500 characters in a value.
    assert max(map(len, told.values())) < 2500


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source": "./coco"}, "./coco: is a folder of this machine"),
        ({"source": "a b"}, "python -m training.data stage 'a b' --to s3"),
        ({"source": "s3://Bucket/x"}, "no bucket is called 'Bucket': expected 3 to 63"),
        ({"source": "s3://a b/x"}, "no bucket is called 'a b'"),
        ({"source": "s3://"}, "'s3://': names no bucket"),
        ({"source": "s3://bucket/../x"}, "has a part"),
        ({"name": "Stage"}, "--name Stage: expected 1 to 52 of a-z"),
        ({"name": "a" * 53}, "expected 1 to 52"),
        ({"path": "../x"}, "path '../x'"),
        ({"path": "/"}, "--path '/': must name a folder"),
    ],
)
def test_what_cannot_run_elsewhere_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        errand(**changes)


def test_an_output_that_is_no_arn_is_told_by_name() -> None:
    storage = replace(errand().storage, encryption_key_arn="key")
    with pytest.raises(UsageError, match=r"EncryptionKeyArn is 'key'; expected an ARN"):
        replace(errand(), storage=storage).told({})


def test_each_place_has_its_module_and_says_which_stacks_it_reads() -> None:
    from training.data.on import _MODULES

    assert {*_MODULES, elsewhere.On.HERE} == set(elsewhere.On)
    for module in _MODULES.values():
        found = importlib.import_module(module)
        assert all(hasattr(found, name) for name in ("READS", "plan", "region", "checks", "send"))


def test_a_name_tells_places_and_time() -> None:
    from datetime import UTC, datetime

    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert of_stage(stage_request()).default_name(now) == "stage-s3-efs-20260102-030405"
    back = of_stage(stage_request(from_place=Place.FSX, to=Place.S3))
    assert back.default_name(now) == "stage-fsx-s3-20260102-030405"


# What comes back

OUTCOME = Outcome("s3://b/a", "/efs/a", "copied", 3, 30, 2, 20, 0, 0)


def test_the_result_is_taken_out_of_the_lines() -> None:
    shown: list[str] = []
    answer = Answer(shown.append)
    for line in ("Staging: 10%", MARK + json.dumps({**vars(OUTCOME), "new": 1}), "after"):
        answer.take(line)
    assert answer.outcome == OUTCOME
    assert shown == ["Staging: 10%", "after"]


def test_places_on_file_systems_are_named_by_their_ids() -> None:
    shown: list[str] = []
    answer = Answer(shown.append)
    inside = "/tmp/mask-rcnn-data-ab12/mask-rcnn-mounts/fs-0ef5"
    answer.take(f"{inside}/a/train: 1 more file; {inside}: full")
    answer.take(MARK + json.dumps({**vars(OUTCOME), "target": f"{inside}/a/train"}))
    assert shown == ["fs-0ef5:/a/train: 1 more file; fs-0ef5:: full"]
    assert answer.outcome is not None
    assert answer.outcome.target == "fs-0ef5:/a/train"


@pytest.mark.parametrize("line", ["a file of mask-rcnn-result: {}", MARK + "[]", MARK + "{", ""])
def test_without_a_whole_result_there_is_none(line: str) -> None:
    answer = Answer(lambda _: None)
    answer.take(line)
    assert answer.outcome is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x failed: AlgorithmError: no room, exit code: 3", PreflightError),
        ("x failed: --to fsx: none (exit code 2)", UsageError),
        ("x failed: S3: denied (exit code 4)\nIts last lines:\n  exit code 2", AwsError),
        ("x failed: (exit code 130)", Interrupted),
        ("x failed: a file differs (exit code 1)", JobFailed),
        ("x failed: (exit code 137)", JobFailed),
        ("x failed: SageMaker gives no reason", JobFailed),
        # The command's own words have some lines, and may speak of other programs' codes.
        ("x failed: s5cmd: exit code 1\nerror: full (exit code 3)", PreflightError),
        (
            "x failed: a\nerror: b, exit code: 3\nLast lines of algo-1:\n  exit code 2",
            PreflightError,
        ),
        ("x failed: a\n  b (exit code 4)", AwsError),
    ],
)
def test_a_run_leaves_with_the_exit_code_that_the_command_had_there(
    text: str, error: type[TrainingError]
) -> None:
    left = as_it_left(JobFailed(text))
    assert type(left) is error
    assert str(left) == text
