"""The commands of the notebooks: which they are, and that the command lines take them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.command_lines import parse
from tests.notebooks.reading import CHOICES, DATA_PARALLEL, FSX, S3_OR_EFS, choice_id
from tests.notebooks.recorded import commands_of
from tests.training.platforms.sagemaker.planning import STACKS
from training import launch

IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/mine/smddp:1"

Command = tuple[str, ...]


@pytest.mark.parametrize(("name", "choice"), CHOICES, ids=choice_id)
def test_the_command_lines_take_every_command(
    name: str, choice: Mapping[str, str], tmp_path: Path
) -> None:
    commands = commands_of(name, choice, tmp_path, stop=True)
    for command in commands:
        parse(command[0], command[1:])
    assert [command[:2] for command in commands if command[0] == "training.jobs"] == [
        ("training.jobs", word) for word in ("logs", "status", "report", "stop")
    ]


@pytest.mark.parametrize(("name", "choice"), CHOICES, ids=choice_id)
def test_what_is_launched_is_what_was_planned(
    name: str, choice: Mapping[str, str], tmp_path: Path
) -> None:
    commands = commands_of(name, choice, tmp_path)
    planned, launched = (command for command in commands if command[0] == "training.launch")
    assert planned[-1] == "--dry-run"
    assert launched == (*planned[:-1], "--yes")
    job = name_in(launched)
    what = choice.get("ALGORITHM") or choice["FRAMEWORK"]
    assert re.fullmatch(rf"mask-rcnn-{what}-\d{{4}}(-\d\d){{5}}", job)
    assert ("training.jobs", "logs", "-f", job) in commands
    assert ("training.jobs", "status", job) in commands


@pytest.mark.parametrize(("name", "choice"), CHOICES, ids=choice_id)
def test_whatever_is_chosen_can_be_planned(
    name: str, choice: Mapping[str, str], tmp_path: Path
) -> None:
    outputs_file = tmp_path / "outputs.json"
    outputs_file.write_text(json.dumps(STACKS))
    [plan] = [words for words in commands_of(name, choice, tmp_path) if "--dry-run" in words]
    more = ("--outputs-file", str(outputs_file), "--format", "json")
    answer = CliRunner().invoke(launch.app, [*plan[1:], *more])
    assert answer.exit_code == 0, answer.output
    planned = json.loads(answer.stdout)
    assert (planned["platform"], planned["job_name"]) == ("sagemaker", name_in(plan))
    assert planned["algorithm"] == ALGORITHMS.get(choice.get("FRAMEWORK"), choice.get("ALGORITHM"))
    is_data_parallel = planned["request"]["Environment"]["MASK_RCNN_DISTRIBUTION"] == "smddp"
    assert is_data_parallel is (name == DATA_PARALLEL)
    [train] = [x for x in planned["request"]["InputDataConfig"] if x["ChannelName"] == "train"]
    assert data_source(train["DataSource"]) == choice.get("SOURCE", "fsx")


ALGORITHMS: Mapping[str | None, str] = {"pytorch": "horovod", "tensorflow": "tf2-smddp"}
"""By FRAMEWORK."""


def name_in(command: Command) -> str:
    return command[command.index("--name") + 1]


def data_source(source: Mapping[str, Any]) -> str:
    if "S3DataSource" in source:
        return "s3"
    return {"EFS": "efs", "FSxLustre": "fsx"}[source["FileSystemDataSource"]["FileSystemType"]]


def test_nothing_is_stopped_unless_it_is_asked_for(tmp_path: Path) -> None:
    commands = commands_of(FSX, {}, tmp_path)
    assert "stop" not in [command[1] for command in commands]


DATA = "HOME/SageMaker/coco2017"
DOWNLOAD = ("download", DATA, "--what", "coco2017", "--what", "pretrained")
TO_S3 = ("stage", DATA, "--to", "s3")
TO_EFS, TO_FSX = ("stage", "--to", "efs"), ("stage", "--to", "fsx")
PACK = ("pack", DATA, DATA, "--as", "tfrecord")


@pytest.mark.parametrize(
    ("name", "choice", "has_data", "expected"),
    [
        (S3_OR_EFS, {"SOURCE": "s3"}, False, [DOWNLOAD, TO_S3]),
        (S3_OR_EFS, {"SOURCE": "efs"}, False, [DOWNLOAD, TO_S3, TO_EFS]),
        (S3_OR_EFS, {"SOURCE": "s3"}, True, []),
        (S3_OR_EFS, {"SOURCE": "efs"}, True, [TO_EFS]),
        (FSX, {}, False, [DOWNLOAD, TO_S3, TO_FSX]),
        (FSX, {}, True, [TO_FSX]),
        (DATA_PARALLEL, {"FRAMEWORK": "pytorch"}, False, [DOWNLOAD, TO_S3, TO_FSX]),
        (DATA_PARALLEL, {"FRAMEWORK": "tensorflow"}, False, [DOWNLOAD, PACK, TO_S3, TO_FSX]),
        (DATA_PARALLEL, {"FRAMEWORK": "tensorflow"}, True, [TO_FSX]),
    ],
)
def test_data_is_brought_to_where_the_job_reads_it_and_not_twice(
    name: str,
    choice: Mapping[str, str],
    has_data: bool,
    expected: list[Command],
    tmp_path: Path,
) -> None:
    home = str(tmp_path / "home")
    assert [
        tuple(word.replace(home, "HOME") for word in command[1:])
        for command in commands_of(name, choice, tmp_path, has_data=has_data)
        if command[0] == "training.data"
    ] == expected


@pytest.mark.parametrize(
    ("name", "choice", "expected"),
    [
        (S3_OR_EFS, {"ALGORITHM": "horovod"}, "hyperparameters.bad_annotations=skip"),
        (FSX, {"ALGORITHM": "horovod"}, "hyperparameters.bad_annotations=skip"),
        (DATA_PARALLEL, {"FRAMEWORK": "pytorch"}, "hyperparameters.bad_annotations=skip"),
        (DATA_PARALLEL, {"FRAMEWORK": "pytorch"}, "sagemaker.distribution=smddp"),
        (DATA_PARALLEL, {"FRAMEWORK": "tensorflow"}, "sagemaker.distribution=smddp"),
    ],
)
def test_the_job_is_set_to_what_its_data_and_library_need(
    name: str, choice: Mapping[str, str], expected: str, tmp_path: Path
) -> None:
    [launched] = [words for words in commands_of(name, choice, tmp_path) if "--yes" in words]
    assert launched[launched.index(expected) - 1] == "--set"


@pytest.mark.parametrize(("image", "told"), [("", []), (IMAGE, [f"image={IMAGE}"])])
def test_the_image_is_this_projects_unless_another_is_named(
    image: str, told: list[str], tmp_path: Path
) -> None:
    commands = commands_of(DATA_PARALLEL, {"IMAGE": image}, tmp_path)
    [plan] = [words for words in commands if "--dry-run" in words]
    assert [word for word in plan if word.startswith("image=")] == told
