"""`python -m training.maskrcnn.train`: one rank of a training job."""

from __future__ import annotations

import json
import os
import platform
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import log, new_app, run
from training.errors import ExitCode, JobFailed, UsageError
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.guard import StopRequest, watch_launcher
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.outcome import write_outcome

if TYPE_CHECKING:
    from training.maskrcnn.engines.engine import Engine
    from training.maskrcnn.trainer import Ending

app = new_app(
    "Train Mask R-CNN: one rank of a job. horovodrun, mpirun or torchrun start this command once "
    "for each GPU or group of cores; on its own it is a job of one rank."
)

EXIT_CODES = {"completed": ExitCode.DONE, "checkpointed": ExitCode.CHECKPOINTED}


class Resume(StrEnum):
    """Whether to go on from a checkpoint."""

    AUTO = "auto"
    NEVER = "never"


@app.command()
def train(
    data: Annotated[
        Path, typer.Option(help="The train channel: pictures and annotations in COCO's layout.")
    ],
    log_dir: Annotated[
        Path, typer.Option(help="The log channel: metrics, checkpoints and the model go there.")
    ],
    hyperparameters: Annotated[
        Path,
        typer.Option(help="A JSON file: an object of hyperparameters. {} takes all defaults."),
    ],
    engine: Annotated[
        str, typer.Option(help="What joins the ranks: horovod, torch (DDP), or smddp.")
    ] = "horovod",
    resume: Annotated[
        Resume,
        typer.Option(
            help="auto: go on from the newest checkpoint of the log channel, if there is one. "
            "never: refuse a log channel that has checkpoints."
        ),
    ] = Resume.AUTO,
) -> None:
    """Train, evaluate and save.

    Exit codes: 0 completed, 1 failed, 2 wrong usage, 75 stopped with a checkpoint (run the same
    command again to go on). outcome.json in the log channel says how it ended.
    """
    watch_launcher()
    stop = StopRequest()
    values = _read_file(hyperparameters)
    channel = _open_log_channel(log_dir, resume)
    raise typer.Exit(_train_rank(engine, values, TrainChannel(data), channel, stop))


def _train_rank(
    engine_name: str,
    hyperparameters: Hyperparameters,
    data: TrainChannel,
    channel: LogChannel,
    stop: StopRequest,
) -> ExitCode:
    """Run this rank's part of the job and leave outcome.json."""
    # Here, so that --help and wrong usage do not wait for torch.
    from training.maskrcnn.engines import start_engine
    from training.maskrcnn.trainer import Job, Trainer

    trainer = None
    try:
        engine = start_engine(engine_name)
        _share_cores(engine)
        _introduce(engine)
        _check_precision(hyperparameters, engine)
        trainer = Trainer(
            Job(engine=engine, hyperparameters=hyperparameters, data=data, log=channel, stop=stop)
        )
        ending = trainer.run()
        if engine.rank == 0:
            _write_ending(channel, ending, step=trainer.position.step)
        # Only now: a launcher may end the other ranks as soon as one has left.
        engine.barrier()
        trainer.close()
    except Exception as error:
        step = trainer.position.step if trainer else 0
        message = str(error) or type(error).__name__
        write_outcome(channel.outcome, "failed", step=step, message=message)
        if isinstance(error, OSError):
            raise JobFailed(message) from error
        raise
    return EXIT_CODES[ending]


def _write_ending(channel: LogChannel, ending: Ending, *, step: int) -> None:
    messages = {
        "completed": "trained to the end of the schedule",
        "checkpointed": "asked to stop; the same command goes on from the last checkpoint",
    }
    write_outcome(channel.outcome, ending, step=step, message=messages[ending])


def _read_file(path: Path) -> Hyperparameters:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--hyperparameters {path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UsageError(f"--hyperparameters {path}: not JSON ({error})") from error
    return read_hyperparameters(values, source=str(path))


def _open_log_channel(folder: Path, resume: Resume) -> LogChannel:
    channel = LogChannel(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has_checkpoints = any(channel.checkpoints.glob("step-*.pt"))
    except OSError as error:
        raise UsageError(f"--log-dir {folder}: cannot be made ({error.strerror})") from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"--log-dir {folder}: cannot be written to")
    if resume is Resume.NEVER and has_checkpoints:
        raise UsageError(
            f"--log-dir {folder}: has checkpoints of an earlier run; give a new folder, or "
            "--resume auto to go on from them"
        )
    return channel


def _share_cores(engine: Engine) -> None:
    """Give each rank of a host its share of the cores, unless OMP_NUM_THREADS says how many."""
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        cores = len(os.sched_getaffinity(0))
        torch.set_num_threads(max(1, cores // engine.local_size))


def _introduce(engine: Engine) -> None:
    """Say where this rank is, so that each has a line in the job's log."""
    import torch

    log.print(
        f"rank {engine.rank} of {engine.size}: process {os.getpid()} on {platform.node()}, "
        f"{engine.device}, {torch.get_num_threads()} threads"
    )


def _check_precision(hyperparameters: Hyperparameters, engine: Engine) -> None:
    if hyperparameters.precision == "fp16" and engine.device.type == "cpu":
        raise UsageError("precision: 'fp16': needs a GPU; on a CPU choose bf16 or fp32")


if __name__ == "__main__":
    run(app)
