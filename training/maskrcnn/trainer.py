"""One training run: build, resume, loop, evaluate, save."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import torch

from training.errors import JobFailed
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.broken_pictures import BrokenPictures
from training.maskrcnn.changes import describe_changes
from training.maskrcnn.checkpoint import CheckpointFolder, State
from training.maskrcnn.course import Course, Position
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.data.collection import Collection, read_collection
from training.maskrcnn.data.loader import load_batches
from training.maskrcnn.data_watch import DataWatch
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.guard import Stop
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.metrics import FileRecorder, LineRecorder, NullRecorder, Recorder
from training.maskrcnn.model.fitting import misfit
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.model.weights import load_initial_weights
from training.maskrcnn.model_file import TrainedModel, save_model
from training.maskrcnn.optimizer import build_optimizer
from training.maskrcnn.progress import Window, describe
from training.maskrcnn.running_statistics import undone_on_failure
from training.maskrcnn.schedule import Schedule, make_schedule
from training.maskrcnn.step import Stepper
from training.maskrcnn.step_numbers import Totals
from training.maskrcnn.together import is_any, on_all_ranks, on_rank_0
from training.maskrcnn.validation import Validation

Ending = Literal["completed", "checkpointed", "regrouping"]
"""`regrouping`: hosts come or go; the run goes on from the trainer's state with other ranks."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a run is given."""

    engine: Engine
    hyperparameters: Hyperparameters
    data: TrainChannel
    log: LogChannel
    stop: Stop


class Trainer:
    """One rank's part of a run."""

    def __init__(self, job: Job, *, state: State | None = None) -> None:
        """Build everything, and go on from a state.

        Args:
            state: The same on all ranks; None is that of the newest checkpoint, if there is one.

        Raises:
            JobFailed: Data or weights cannot be used; raised on all ranks.
        """
        self._job = job
        self._engine = job.engine
        self._hyperparameters = job.hyperparameters
        self._checkpoints = CheckpointFolder(
            job.log.checkpoints, job.hyperparameters.keep_checkpoints
        )
        self._saved_step: int | None = None
        self._window = Window()
        self._data_watch = DataWatch(
            num_workers=job.hyperparameters.num_workers, ranks_of_host=job.engine.local_size
        )

        self._data = self._read_data()
        self._schedule = self._make_schedule()
        self._model = self._build_model()
        state, notes = self._load_weights(state)
        self._stepper = Stepper(
            job.engine,
            self._model,
            build_optimizer(self._model, job.hyperparameters),
            job.hyperparameters,
            broken_batch=job.log.rank_batch(job.engine.rank),
        )
        self._is_stop_requested = False
        position = Position()
        if state is not None:
            self._load_stepper(state)
            position = Position(**state["position"])
        self._course = Course(self._schedule, job.hyperparameters, position)
        self._recorder = self._start_recorder(state)
        self._broken = BrokenPictures(
            job.engine, self._recorder, limit=job.hyperparameters.max_broken_pictures
        )
        self._validation = self._make_validation()
        self._describe_run(notes)

    @property
    def position(self) -> Position:
        return self._course.position

    def run(self) -> Ending:
        """Train to the end of the schedule, or until a rank is asked to stop.

        Raises:
            JobFailed: Training cannot go on; raised on all ranks.
        """
        batches = self._load_batches()
        while True:
            if self._course.is_evaluation_due and not self._evaluate():
                return self._leave()
            if self._course.is_done:
                with self._stepper.averaged():
                    self._save_model()
                return "completed"
            self._train_step(batches)
            self._log()
            if self._course.is_checkpoint_due:
                self._save_checkpoint()
            if self._is_stop_requested:
                return self._leave()

    def state(self) -> State:
        """Return all that the rest of the run depends on, as it is after the last whole step."""
        return {
            "model": self._model.state_dict(),
            "stepper": self._stepper.state_dict(),
            "position": asdict(self.position),
            "hyperparameters": self._hyperparameters.model_dump(mode="json"),
            "categories": dict(self._data.categories),
        }

    def state_in_memory(self) -> State:
        """Return the state, and what checkpoints do not hold: the last line of metrics."""
        return {**self.state(), "last_line": self._recorder.last}

    def save_alone(self) -> None:
        """Save a checkpoint without the other ranks, which may be gone.

        Raises:
            JobFailed: It cannot be written.
        """
        if self._saved_step != self.position.step:
            self._checkpoints.save(self.state(), step=self.position.step)

    def close(self) -> None:
        """Write out what is recorded."""
        self._recorder.close()

    # Build and resume

    def _read_data(self) -> Collection:
        return on_all_ranks(
            self._engine, lambda: read_collection(self._job.data, self._hyperparameters)
        )

    def _make_schedule(self) -> Schedule:
        return make_schedule(
            self._hyperparameters,
            world_size=self._engine.size,
            images_per_epoch=self._hyperparameters.images_per_epoch or len(self._data.train),
        )

    def _build_model(self) -> MaskRCNN:
        torch.manual_seed(self._hyperparameters.seed)
        model = build_model(
            self._hyperparameters,
            categories=len(self._data.categories),
            sum_over_ranks=self._engine.sum,
        ).to(self._engine.device)
        if self._hyperparameters.compile:
            model.compile_layers()
        return model

    def _load_weights(self, given: State | None) -> tuple[State | None, list[str]]:
        """Give all ranks the weights of a state, or those to begin with.

        Rank 0 reads the files: other ranks may be on hosts that do not have them.
        """
        notes: list[str] = []

        def read() -> State | None:
            state = self._checkpoints.load_newest(notes.append)
            if state is None:
                notes.extend(
                    load_initial_weights(self._model, self._hyperparameters, self._job.data)
                )
            elif change := self._describe_changes(state):
                notes.append(change)
            return state

        state = given
        if state is None and (state := on_rank_0(self._engine, read)) is not None:
            # Not written again before a step is taken: a kill between the renames of checksum and
            # checkpoint would damage the one that is there.
            self._saved_step = state["position"]["step"]
        weights = state["model"] if state else self._engine.broadcast(self._model.state_dict())
        if (problem := misfit(self._model, weights)) is not None:
            raise self._belong_to_another("model", problem)
        self._model.load_state_dict(weights, strict=False)
        return state, notes

    def _describe_changes(self, state: State) -> str | None:
        try:
            return describe_changes(state["hyperparameters"], self._hyperparameters)
        except JobFailed as error:
            raise JobFailed(f"{self._checkpoints.folder}: {error}") from error

    def _load_stepper(self, state: State) -> None:
        before, now = state["hyperparameters"]["optimizer"], self._hyperparameters.optimizer
        if before != now:
            # torch takes the state of one for another's, and fails in the first step.
            raise self._belong_to_another("optimizer", f"{before}, not {now}")
        try:
            self._stepper.load_state_dict(state["stepper"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise self._belong_to_another("optimizer or precision", error) from error

    def _belong_to_another(self, what: str, reason: object) -> JobFailed:
        return JobFailed(
            f"{self._checkpoints.folder}: its checkpoints belong to another {what}; give another "
            f"--log-dir, or the hyperparameters of before ({reason})"
        )

    def _start_recorder(self, state: State | None) -> Recorder:
        """The one place that asks for rank 0: what the others record goes nowhere."""
        last = state.get("last_line") if state else None
        if self._engine.rank != 0:
            shows_all = self._hyperparameters.log_ranks == "all"
            return LineRecorder(last) if shows_all else NullRecorder(last)
        return FileRecorder(self._job.log, step=self.position.step, last=last)

    def _make_validation(self) -> Validation:
        return Validation(
            self._engine,
            self._data.val,
            self._hyperparameters,
            log=self._job.log,
            recorder=self._recorder,
            is_stop_requested=lambda: self._job.stop.is_requested,
        )

    def _describe_run(self, notes: list[str]) -> None:
        for note in (*self._data.notes, *notes):
            self._recorder.say(f"note: {note}")
        trained = sum(p.numel() for p in self._model.parameters() if p.requires_grad)
        self._recorder.say(
            f"{self._engine.size} ranks ({self._engine.name}) on {self._engine.device.type}, "
            f"{torch.get_num_threads()} threads each; {trained / 1e6:.1f} million trained "
            f"parameters; {len(self._data.train)} pictures, {len(self._data.categories)} "
            f"categories; {self._course.last_step} steps of "
            f"{self._schedule.global_batch_size} pictures"
        )
        if self.position.step:
            self._recorder.say(f"goes on after step {self.position.step}")

    def _load_batches(self) -> Iterator[Batch]:
        return load_batches(
            self._data.train,
            self._hyperparameters,
            rank=self._engine.rank,
            size=self._engine.size,
            local_size=self._engine.local_size,
            position=self.position.images,
            pin_memory=self._engine.device.type == "cuda",
        )

    # Loop

    def _train_step(self, batches: Iterator[Batch]) -> None:
        begin = time.perf_counter()
        drawn = [next(batches) for _ in range(self._hyperparameters.accumulation_steps)]
        self._window.wait_for_data(time.perf_counter() - begin)
        with undone_on_failure(self._model):
            totals = self._stepper.take(
                drawn,
                learning_rate=self._course.learning_rate,
                is_stop_requested=self._job.stop.is_requested,
            )
        self._course.advance()
        self._take_note(totals)

    def _take_note(self, totals: Sequence[Totals]) -> None:
        """Take what is known of steps; on a GPU that of the last one comes with the next."""
        for of_step in totals:
            self._window.add(of_step)
            self._is_stop_requested |= of_step.is_stop_requested
            if of_step.broken_pictures:
                self._broken.add(of_step.own_broken)

    def _log(self) -> None:
        if not self._course.is_log_due:
            return
        self._take_note(self._stepper.finish())
        step, epoch = self.position.step, self._course.epoch
        values = self._window.read(
            global_batch_size=self._schedule.global_batch_size,
            learning_rate=self._course.last_learning_rate,
        )
        self._recorder.record("train", values, step=step, epoch=epoch)
        self._recorder.say(
            describe(
                values,
                step=step,
                total_steps=self._course.last_step,
                epoch=epoch,
                images_left=self._course.images_left,
            )
        )
        warning = self._data_watch.look(values)
        if warning is not None:
            self._recorder.say(warning)

    # Evaluate

    def _evaluate(self) -> bool:
        """Evaluate, and keep the model if it is the best; False where a rank was asked to stop."""
        self._take_note(self._stepper.finish())
        with self._window.paused(), self._stepper.averaged():
            self._share_statistics()
            score = self._validation.run(self._model, self.position, epoch=self._course.epoch)
            if score is None:
                return False
            # First the model: where a rank is lost in between, both are done again.
            if self._course.is_best(score):
                self._save_model(is_best=True)
            self._course.take_score(score)
        return True

    def _share_statistics(self) -> None:
        """Evaluate rank 0's model everywhere: plain batch norm's averages differ by rank."""
        if self._hyperparameters.batch_norm == "None":
            self._model.load_state_dict(self._engine.broadcast(self._model.state_dict()))

    # Save

    def _save_checkpoint(self) -> None:
        self._take_note(self._stepper.finish())
        state = self.state()
        with self._window.paused():
            path = on_rank_0(
                self._engine, lambda: self._checkpoints.save(state, step=self.position.step)
            )
        self._saved_step = self.position.step
        self._recorder.say(f"saved {path.name}")

    def _save_model(self, *, is_best: bool = False) -> None:
        path = self._job.log.best_model if is_best else self._job.log.model
        trained = TrainedModel(self._model, self._hyperparameters, self._data.categories)
        on_rank_0(self._engine, lambda: save_model(path, trained))

    def _leave(self) -> Ending:
        """Stop early, so that the same command goes on from here."""
        if self._saved_step != self.position.step:
            self._save_checkpoint()
        if is_any(self._engine, self._job.stop.is_final):
            self._recorder.say(f"asked to stop: leaves after step {self.position.step}")
            return "checkpointed"
        self._recorder.say(f"hosts come or go: regroups after step {self.position.step}")
        return "regrouping"
