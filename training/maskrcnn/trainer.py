"""One training run: build, resume, loop, evaluate, save."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import torch

from training.errors import JobFailed
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.checkpoint import CheckpointFolder, State
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.data.coco import Split
from training.maskrcnn.data.collection import Collection, read_collection
from training.maskrcnn.data.loader import load_batches
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.evaluate import Evaluation, evaluate, write_predictions
from training.maskrcnn.guard import StopRequest
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.metrics import FileRecorder, NullRecorder, Recorder
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.model.weights import load_initial_weights
from training.maskrcnn.model_file import TrainedModel, save_model
from training.maskrcnn.optimizer import build_optimizer
from training.maskrcnn.progress import Window, describe
from training.maskrcnn.schedule import Schedule, make_schedule
from training.maskrcnn.step import Stepper, Totals
from training.maskrcnn.together import on_all_ranks, on_rank_0

Ending = Literal["completed", "checkpointed"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a run is given."""

    engine: Engine
    hyperparameters: Hyperparameters
    data: TrainChannel
    log: LogChannel
    stop: StopRequest


@dataclass
class Position:
    """How far a run is: with weights and seed, all that its future depends on."""

    step: int = 0
    images: int = 0
    """Pictures that all ranks together have seen."""
    images_at_evaluation: int = 0
    """`images` at the last evaluation."""


class Trainer:
    """One rank's part of a run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._engine = job.engine
        self._hyperparameters = job.hyperparameters
        self._checkpoints = CheckpointFolder(
            job.log.checkpoints, job.hyperparameters.keep_checkpoints
        )
        self._broken: set[str] = set()
        self._saved_step = -1
        self._window = Window()
        self.position = Position()

        self._data = self._read_data()
        self._schedule = self._make_schedule()
        self._model = self._build_model()
        resumed, notes = self._load_weights()
        self._stepper = Stepper(
            job.engine,
            self._model,
            build_optimizer(self._model, job.hyperparameters),
            job.hyperparameters,
        )
        if resumed is not None:
            self._go_on_from(resumed)
        self._recorder = self._start_recorder()
        self._describe_run(notes)

    def run(self) -> Ending:
        """Train to the end of the schedule, or until a rank is asked to stop.

        Raises:
            JobFailed: Training cannot go on; raised on all ranks.
        """
        batches = self._load_batches()
        while True:
            if self._is_evaluation_due() and not self._evaluate():
                return self._leave()
            if self._is_done():
                self._save_model()
                return "completed"
            totals = self._train_step(batches)
            self._log()
            if self._is_checkpoint_due():
                self._save_checkpoint()
            if totals.is_stop_requested:
                return self._leave()

    def close(self) -> None:
        self._recorder.close()
        self._engine.close()

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
        return build_model(
            self._hyperparameters,
            categories=len(self._data.categories),
            sum_over_ranks=self._engine.sum,
        ).to(self._engine.device)

    def _load_weights(self) -> tuple[State | None, list[str]]:
        """Give all ranks the weights of the newest checkpoint, or those to begin with.

        Rank 0 reads them: other ranks may be on hosts that do not have the file.
        """
        notes: list[str] = []

        def read() -> State | None:
            state = self._checkpoints.load_newest(notes.append)
            if state is None:
                notes.extend(
                    load_initial_weights(self._model, self._hyperparameters, self._job.data)
                )
            return state

        state = on_rank_0(self._engine, read)
        weights = state["model"] if state else self._engine.broadcast(self._model.state_dict())
        try:
            self._model.load_state_dict(weights)
        except RuntimeError as error:
            raise JobFailed(
                f"{self._checkpoints.folder}: its checkpoints belong to another model; give "
                f"another --log-dir, or the hyperparameters of before ({error})"
            ) from error
        return state, notes

    def _go_on_from(self, state: State) -> None:
        self._stepper.load_state_dict(state["stepper"])
        self.position = Position(**state["position"])
        # With another number of ranks a step has another number of pictures.
        self.position.step = self.position.images // self._schedule.global_batch_size

    def _start_recorder(self) -> Recorder:
        """The one place that asks for rank 0: what the others record goes nowhere."""
        if self._engine.rank != 0:
            return NullRecorder()
        return FileRecorder(self._job.log, step=self.position.step)

    def _describe_run(self, notes: list[str]) -> None:
        for note in (*self._data.notes, *notes):
            self._recorder.say(f"note: {note}")
        trained = sum(p.numel() for p in self._model.parameters() if p.requires_grad)
        self._recorder.say(
            f"{self._engine.size} ranks ({self._engine.name}) on {self._engine.device.type}, "
            f"{torch.get_num_threads()} threads each; {trained / 1e6:.1f} million trained "
            f"parameters; {len(self._data.train)} pictures, {len(self._data.categories)} "
            f"categories; {self._schedule.total_steps} steps of "
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
        )

    # Loop

    def _train_step(self, batches: Iterator[Batch]) -> Totals:
        begin = time.perf_counter()
        batch = next(batches)
        data_wait_s = time.perf_counter() - begin
        totals = self._stepper.take(
            batch,
            learning_rate=self._schedule.learning_rate_at(self.position.step),
            is_stop_requested=self._job.stop.is_requested,
        )
        self.position.step += 1
        self.position.images += self._schedule.global_batch_size
        self._window.add(totals, data_wait_s=data_wait_s)
        if totals.broken_pictures:
            self._count_broken(batch)
        return totals

    def _count_broken(self, batch: Batch) -> None:
        """Name pictures that cannot be used, and stop where they are too many."""
        of_ranks = self._engine.broadcast(self._engine.gather(batch.broken))
        new = {message for of_rank in of_ranks for message in of_rank} - self._broken
        for message in sorted(new):
            self._recorder.say(f"picture left out: {message}")
        self._broken |= new
        if len(self._broken) > self._hyperparameters.max_broken_pictures:
            raise JobFailed(
                f"{len(self._broken)} pictures cannot be used, more than max_broken_pictures "
                f"{self._hyperparameters.max_broken_pictures}: {'; '.join(sorted(new))}"
            )

    def _log(self) -> None:
        step = self.position.step
        if step % self._hyperparameters.log_period and not self._is_done():
            return
        values = self._window.read(
            global_batch_size=self._schedule.global_batch_size,
            learning_rate=self._schedule.learning_rate_at(step - 1),
        )
        self._recorder.record("train", values, step=step, epoch=self._epoch())
        self._recorder.say(
            describe(
                values,
                step=step,
                total_steps=self._schedule.total_steps,
                epoch=self._epoch(),
                images_left=(self._schedule.total_steps - step) * self._schedule.global_batch_size,
            )
        )

    def _is_done(self) -> bool:
        return self.position.step >= self._schedule.total_steps

    def _epoch(self) -> float:
        return self.position.images / self._schedule.images_per_epoch

    # Evaluate

    def _is_evaluation_due(self) -> bool:
        done, before = self.position.images, self.position.images_at_evaluation
        period = self._hyperparameters.eval_period * self._schedule.images_per_epoch
        return done // period > before // period or (self._is_done() and done > before)

    def _evaluate(self) -> bool:
        """Evaluate all splits of `data_val`; False where a rank was asked to stop."""
        with self._window.paused():
            self._share_statistics()
            for split in self._data.val:
                begin = time.perf_counter()
                evaluation = evaluate(
                    self._engine,
                    self._model,
                    split,
                    self._hyperparameters,
                    is_stop_requested=lambda: self._job.stop.is_requested,
                )
                if evaluation is None:
                    return False
                self._record_evaluation(split, evaluation, time.perf_counter() - begin)
        self.position.images_at_evaluation = self.position.images
        return True

    def _share_statistics(self) -> None:
        """Evaluate rank 0's model everywhere: plain batch norm's averages differ by rank."""
        if self._hyperparameters.batch_norm == "None":
            self._model.load_state_dict(self._engine.broadcast(self._model.state_dict()))

    def _record_evaluation(self, split: Split, evaluation: Evaluation, took_s: float) -> None:
        """Record the first split under the metrics' own names, others under `name@split`."""
        is_first = split is self._data.val[0]
        values = {
            name if is_first else f"{name}@{split.name}": value
            for name, value in {**evaluation.metrics, "evaluation_s": took_s}.items()
        }
        self._recorder.record("evaluation", values, step=self.position.step, epoch=self._epoch())
        for message in evaluation.broken:
            self._recorder.say(f"picture left out of {split.name}: {message}")
        if is_first:
            on_rank_0(
                self._engine,
                lambda: write_predictions(
                    self._job.log.predictions,
                    split,
                    evaluation.detections,
                    step=self.position.step,
                ),
            )

    # Save

    def _is_checkpoint_due(self) -> bool:
        period = self._hyperparameters.checkpoint_period
        if self._is_done():
            return True
        if period is not None:
            return self.position.step % period == 0
        before = self.position.images - self._schedule.global_batch_size
        epoch = self._schedule.images_per_epoch
        return self.position.images // epoch > before // epoch

    def _save_checkpoint(self) -> None:
        state = {
            "model": self._model.state_dict(),
            "stepper": self._stepper.state_dict(),
            "position": asdict(self.position),
            "hyperparameters": self._hyperparameters.model_dump(mode="json"),
            "categories": dict(self._data.categories),
        }
        with self._window.paused():
            path = on_rank_0(
                self._engine, lambda: self._checkpoints.save(state, step=self.position.step)
            )
        self._saved_step = self.position.step
        self._recorder.say(f"saved {path.name}")

    def _leave(self) -> Ending:
        """Stop early, so that the same command goes on from here."""
        if self._saved_step != self.position.step:
            self._save_checkpoint()
        self._recorder.say(f"asked to stop: leaves after step {self.position.step}")
        return "checkpointed"

    def _save_model(self) -> None:
        trained = TrainedModel(self._model, self._hyperparameters, self._data.categories)
        on_rank_0(self._engine, lambda: save_model(self._job.log.model, trained))
