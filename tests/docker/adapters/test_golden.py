"""The command lines are those that the implementations' own programs were seen to take.

Each case of golden/ has what the adapter gave and what the real program of the named commit made of
it: its own argument parser and configuration, up to the start of training, with stand-ins for
TensorFlow, Horovod and the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docker.adapters.loading import (
    adapter,
    all_golden_cases,
    give_backbone,
    job,
    touch_checkpoint,
)

CASES = all_golden_cases()


@pytest.mark.parametrize(("folder", "case"), CASES, ids=[f"{f}: {c['name']}" for f, c in CASES])
def test_the_command_is_the_one_that_was_run_against_the_real_program(
    folder: str, case: dict[str, Any], tmp_path: Path
) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    give_backbone(data)
    for path in case["checkpoints"]:
        attempt, name = path.split("/")
        touch_checkpoint(log / "checkpoints" / attempt, name)
    own = adapter(folder)
    given = job(
        folder,
        data=data,
        log=log,
        hyperparameters=case["hyperparameters"],
        hosts=case["hosts"],
        processes_per_host=case["processes_per_host"],
    )
    command = [
        word.replace(str(log), "LOG").replace(str(data), "DATA") for word in own.command(given)
    ]
    assert command == case["arguments"]
    assert own.environment(given) == case["environment"]


@pytest.mark.parametrize("folder", ["tensorpack", "aws-samples"])
def test_the_real_program_took_each_value_that_the_job_gave(folder: str) -> None:
    case = next(case for f, case in CASES if f == folder and case["name"] == "everything else")
    given = case["hyperparameters"]
    taken = case["outcome"]["configuration"]
    assert taken["BACKBONE.RESNET_NUM_BLOCKS"] == [3, 4, 23, 3]
    assert taken["BACKBONE.NORM"] == given["batch_norm"]
    assert taken["MODE_MASK"] is False
    assert taken["TRAIN.EVAL_PERIOD"] == int(given["eval_period"])
    assert taken["TRAIN.BASE_LR"] == float(given["config:TRAIN.BASE_LR"])
    assert taken["FPN.NORM"] == "GN"
    assert case["outcome"]["session_init"][1] == f"DATA/pretrained-models/{given['load_model']}"


@pytest.mark.parametrize(
    ("folder", "checkpoint", "epoch"),
    [
        ("tensorpack", "LOG/checkpoints/attempt-2/model-22500", 7),
        ("aws-samples", "LOG/checkpoints/attempt-1/model-18740", 21),
    ],
)
def test_a_second_start_goes_on_after_the_last_epoch_in_a_folder_of_its_own(
    folder: str, checkpoint: str, epoch: int
) -> None:
    case = next(case for f, case in CASES if f == folder and case["checkpoints"])
    outcome = case["outcome"]
    assert outcome["session_init"][1] == checkpoint
    assert outcome["starting_epoch"] == epoch
    assert outcome["log_folder"] not in checkpoint


def test_tf2_smddp_begins_anew_in_a_folder_of_its_own() -> None:
    case = next(case for f, case in CASES if f == "tf2-smddp" and case["checkpoints"])
    configuration = case["outcome"]["configuration"]
    assert configuration["model_dir"] == "LOG/checkpoints/attempt-2"
    assert configuration["checkpoint"].startswith("DATA/pretrained-models/")
