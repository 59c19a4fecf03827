"""`python -m training.maskrcnn.train`: one rank of a training job."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import log, new_app, run
from training.errors import ExitCode, JobFailed, UsageError
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.guard import Stop, StopRequest, watch_launcher
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.outcome import write_outcome

if TYPE_CHECKING:
    from training.maskrcnn.checkpoint import State
    from training.maskrcnn.engines.engine import Engine
    from training.maskrcnn.ownership import Ownership
    from training.maskrcnn.trainer import Ending, Trainer

app = new_app(
    "Train Mask R-CNN: one rank of a job. horovodrun, mpirun or torchrun start this command once "
    "for each GPU or group of cores; on its own it is a job of one rank."
)

EXIT_CODES: dict[Ending, ExitCode] = {
    "completed": ExitCode.DONE,
    "checkpointed": ExitCode.CHECKPOINTED,
}
MESSAGES = {
    "completed": "trained to the end of the schedule",
    "checkpointed": "asked to stop; the same command goes on from the last checkpoint",
}


class Resume(StrEnum):
    """Whether to go on from a checkpoint."""

    AUTO = "auto"
    NEVER = "never"


EPILOG = """Examples:

horovodrun -np 8 python -m training.maskrcnn.train --data coco --log-dir log --hyperparameters
hyperparameters.json

python -m training.maskrcnn.train --data shapes --log-dir log --hyperparameters
hyperparameters.json --engine torch"""


@app.command(epilog=EPILOG)
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
    max_run_s: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Stop after so many seconds with a checkpoint, as after SIGTERM. None: no limit.",
        ),
    ] = None,
) -> None:
    """Train, evaluate and save.

    SIGTERM to any rank, or Ctrl-C, ends the job after the step at hand, with a checkpoint; a second
    Ctrl-C ends it at once. Exit codes: 0 completed, 1 failed, 2 wrong usage, 75 stopped with a
    checkpoint (run the same command again to go on), 130 after a second Ctrl-C. outcome.json in the
    log channel says how it ended. One log channel takes one job at a time.
    """
    watch_launcher()
    stop = StopRequest(max_run_s=max_run_s)
    values = _read_file(hyperparameters)
    rank = _Rank(
        hyperparameters=values,
        data=TrainChannel(data),
        log=_open_log_channel(log_dir),
        is_new=resume is Resume.NEVER,
    )
    is_elastic = engine == "horovod" and os.environ.get("HOROVOD_ELASTIC") == "1"
    if not is_elastic:
        rank.refuse_checkpoints()
    try:
        code = _train_rank(engine, rank, stop, is_elastic=is_elastic)
    finally:
        stop.close()
    raise typer.Exit(code)


def _train_rank(engine_name: str, rank: _Rank, stop: StopRequest, *, is_elastic: bool) -> ExitCode:
    """Run this rank's part of the job and leave outcome.json."""
    # Here, so that --help and wrong usage do not wait for torch.
    from training.maskrcnn.engines import start_engine
    from training.maskrcnn.ownership import InUseError

    try:
        if is_elastic:
            from training.maskrcnn.elastic import train_elastically

            ending = train_elastically(rank, stop, rank.hyperparameters)
        else:
            engine = start_engine(engine_name, rank.hyperparameters)
            ending = rank.train(engine, stop)
            engine.close()
    except InUseError:
        # The outcome is the other's to write.
        raise
    except Exception as error:
        message = str(error) or type(error).__name__
        # The disk may be full, which may be the very cause: that is what must be told.
        with suppress(OSError):
            write_outcome(rank.log.outcome, "failed", step=rank.step, message=message)
        if isinstance(error, OSError):
            raise JobFailed(message) from error
        raise
    return EXIT_CODES[ending]


@dataclass
class _Rank:
    """This process's part of a job: built once, or again whenever the ranks have changed."""

    hyperparameters: Hyperparameters
    data: TrainChannel
    log: LogChannel
    is_new: bool
    """The run must not go on from the checkpoints of an earlier one."""
    state: State | None = field(default=None, init=False)
    """What it goes on from instead of a checkpoint; None while it is training."""
    _trainer: Trainer | None = field(default=None, init=False)
    _ownership: Ownership | None = field(default=None, init=False)

    @property
    def step(self) -> int:
        return self._trainer.position.step if self._trainer else 0

    def refuse_checkpoints(self) -> None:
        """Raise UsageError where a new run has checkpoints of an earlier one."""
        if self.is_new and any(self.log.checkpoints.glob("step-*.pt")):
            raise UsageError(
                f"--log-dir {self.log.root}: has checkpoints of an earlier run; give a new "
                "folder, or --resume auto to go on from them"
            )

    def train(self, engine: Engine, stop: Stop) -> Ending:
        """Train among these ranks."""
        from training.maskrcnn.trainer import Job, Trainer

        self._own_log(engine)
        if self.state is None:
            # Not where others have a state: checkpoints are this run's, which the rank has joined.
            self.refuse_checkpoints()
        _share_cores(engine)
        _introduce(engine)
        _check_precision(self.hyperparameters, engine)
        self._trainer = Trainer(
            Job(
                engine=engine,
                hyperparameters=self.hyperparameters,
                data=self.data,
                log=self.log,
                stop=stop,
            ),
            state=self.state,
        )
        self.state = None
        ending = self._trainer.run()
        if engine.rank == 0 and ending != "regrouping":
            write_outcome(self.log.outcome, ending, step=self.step, message=MESSAGES[ending])
        # Only now: a launcher may end the other ranks as soon as one has left.
        engine.barrier()
        self._trainer.close()
        return ending

    def _own_log(self, engine: Engine) -> None:
        from training.maskrcnn.ownership import Ownership
        from training.maskrcnn.together import on_rank_0

        self._ownership = self._ownership or Ownership(self.log)
        self._ownership.take(engine, goes_on=self.state is not None)
        if self.state is None:
            # How an earlier run ended says nothing about this one, which may be killed.
            on_rank_0(engine, lambda: self.log.outcome.unlink(missing_ok=True))

    def save_alone(self) -> None:
        """Save a checkpoint without the other ranks, if there is anything to save."""
        if self._trainer is not None:
            self._trainer.save_alone()

    def let_go(self) -> None:
        """Keep nothing but the state after the last whole step."""
        if self._trainer is not None:
            self.state = self._trainer.state_in_memory()
            self._trainer.close()
            self._trainer = None


def _read_file(path: Path) -> Hyperparameters:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--hyperparameters {path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UsageError(f"--hyperparameters {path}: not JSON ({error})") from error
    return read_hyperparameters(values, source=str(path))


def _open_log_channel(folder: Path) -> LogChannel:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--log-dir {folder}: cannot be made ({error.strerror})") from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"--log-dir {folder}: cannot be written to")
    return LogChannel(folder)


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
