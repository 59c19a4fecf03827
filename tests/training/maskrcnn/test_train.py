"""The command line of a rank."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner

from training.errors import JobFailed, UsageError
from training.layout import LogChannel, TrainChannel
from training.maskrcnn import train
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.train import app
from training.maskrcnn.trainer import Trainer

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_signal_handler(monkeypatch: pytest.MonkeyPatch, stop: Any) -> None:
    monkeypatch.setattr(train, "StopRequest", lambda **_given: stop)


def invoke(data: TrainChannel, log: Path, values: Any, **options: str) -> Any:
    file = log.parent / "hyperparameters.json"
    file.write_text(values if isinstance(values, str) else json.dumps(values))
    arguments = ["--data", str(data.root), "--log-dir", str(log), "--hyperparameters", str(file)]
    for name, value in {"engine": "torch", **options}.items():
        arguments += [f"--{name}", value]
    return CliRunner().invoke(app, arguments)


def outcome(log: Path) -> Any:
    return json.loads(LogChannel(log).outcome.read_text())


def dumped(tiny: Any, **changes: Any) -> Any:
    return tiny(**changes).model_dump(mode="json")


def test_a_run_ends_with_0_and_its_outcome(shapes: TrainChannel, tiny: Any, tmp_path: Path) -> None:
    done = invoke(shapes, tmp_path / "log", dumped(tiny, images_per_epoch=4))
    assert done.exit_code == 0, done.output
    assert outcome(tmp_path / "log") == {
        "status": "completed",
        "step": 1,
        "message": "trained to the end of the schedule",
    }


def test_a_run_that_is_asked_to_stop_ends_with_75(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, stop: Any
) -> None:
    stop.is_requested = True
    done = invoke(shapes, tmp_path / "log", dumped(tiny))
    assert done.exit_code == 75, done.output
    assert outcome(tmp_path / "log")["status"] == "checkpointed"
    assert outcome(tmp_path / "log")["step"] == 1


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ("{oops", {}, "not JSON"),
        ("[]", {}, "expected a map"),
        ({"optimizer": "lamb"}, {}, "optimizer: 'lamb': input should be 'sgd', 'adamw' or 'lars'"),
        ({}, {"engine": "mpi"}, "--engine mpi: choose one of horovod, torch"),
        ({"precision": "fp16"}, {}, "needs a GPU; on a CPU choose bf16 or fp32"),
    ],
)
def test_wrong_usage_is_refused(
    shapes: TrainChannel, tmp_path: Path, values: Any, options: dict[str, str], message: str
) -> None:
    refused = invoke(shapes, tmp_path / "log", values, **options)
    assert isinstance(refused.exception, UsageError)
    assert message in str(refused.exception)


def test_a_log_folder_that_cannot_be_made_is_refused(shapes: TrainChannel, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file")
    refused = invoke(shapes, tmp_path / "log", "{}")
    assert isinstance(refused.exception, UsageError)
    assert "log: cannot be made (File exists)" in str(refused.exception)


def test_resume_never_refuses_checkpoints_of_an_earlier_run(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    log = LogChannel(tmp_path / "log")
    log.checkpoints.mkdir(parents=True)
    (log.checkpoints / "step-00000001.pt").write_bytes(b"")
    refused = invoke(shapes, log.root, dumped(tiny), resume="never")
    assert isinstance(refused.exception, UsageError)
    assert "has checkpoints of an earlier run" in str(refused.exception)


def test_a_rank_that_joins_a_run_finds_its_checkpoints_there(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, stop: Any
) -> None:
    """Elastic: a state comes from the others, and the checkpoints are theirs."""
    log, hyperparameters = LogChannel(tmp_path / "log"), tiny(images_per_epoch=4)
    log.root.mkdir()
    first, joins = (
        train._Rank(hyperparameters=hyperparameters, data=shapes, log=log, is_new=True)
        for _ in range(2)
    )
    assert first.train(TorchEngine(), stop) == "completed"
    first.let_go()
    with pytest.raises(UsageError, match="has checkpoints of an earlier run"):
        joins.train(TorchEngine(), stop)
    joins.state = first.state
    assert joins.train(TorchEngine(), stop) == "completed"


HOLDS = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("resume", ["auto", "never"])
def test_a_second_training_in_a_log_folder_is_refused_and_changes_nothing(
    resume: str, shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    log = LogChannel(tmp_path / "log")
    log.root.mkdir()
    log.outcome.write_text("of the other")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(log.trainer_lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        refused = invoke(shapes, log.root, dumped(tiny), resume=resume)
        holder.kill()
    assert isinstance(refused.exception, UsageError)
    assert str(refused.exception) == f"{log.root} is in use: the job in it is still running"
    assert log.outcome.read_text() == "of the other"
    assert {path.name for path in log.root.iterdir()} == {".trainer.lock", "outcome.json"}
    done = invoke(shapes, log.root, dumped(tiny, images_per_epoch=4), resume=resume)
    assert done.exit_code == 0, done.output


def test_an_outcome_of_an_earlier_run_is_gone_while_one_trains(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogChannel(tmp_path / "log")
    log.root.mkdir()
    log.outcome.write_text("of the one before")
    run, seen = Trainer.run, []

    def noted(self: Trainer) -> Any:
        seen.append(log.outcome.exists())
        return run(self)

    monkeypatch.setattr(Trainer, "run", noted)
    assert invoke(shapes, log.root, dumped(tiny, images_per_epoch=4)).exit_code == 0
    assert seen == [False]
    assert outcome(log.root)["status"] == "completed"


def test_a_cause_is_told_although_there_is_no_room_for_the_outcome(
    tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: Any, **_named: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(train, "write_outcome", full)
    failed = invoke(TrainChannel(tmp_path / "absent"), tmp_path / "log", dumped(tiny))
    assert isinstance(failed.exception, JobFailed)
    assert "there is no such annotation file" in str(failed.exception)


def test_a_failure_is_told_in_the_outcome(tiny: Any, tmp_path: Path) -> None:
    failed = invoke(TrainChannel(tmp_path / "absent"), tmp_path / "log", dumped(tiny))
    assert isinstance(failed.exception, JobFailed)
    told = outcome(tmp_path / "log")
    assert (told["status"], told["step"]) == ("failed", 0)
    assert "instances_train2017.json: there is no such annotation file" in told["message"]


def test_help_comes_at_once_without_torch() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from training.maskrcnn.train import app;"
        "shown = CliRunner().invoke(app, ['--help']); print(shown.output);"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for option in (
        "--data",
        "--log-dir",
        "--hyperparameters",
        "--engine",
        "--resume",
        "--max-run-s",
    ):
        assert option in done.stdout
    assert "a second Ctrl-C ends it at once" in " ".join(done.stdout.split())
