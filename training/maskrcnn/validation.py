"""The evaluation that is due in a run: all splits of `data_val`, recorded and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from training.layout import LogChannel
from training.maskrcnn.course import Position
from training.maskrcnn.data.coco import Split
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.evaluate import Evaluation, evaluate
from training.maskrcnn.evaluation_files import extremes, write_evaluation, write_predictions
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.metrics import Recorder
from training.maskrcnn.model.maskrcnn import MaskRCNN
from training.maskrcnn.progress import describe_evaluation
from training.maskrcnn.showcase import drawn_pictures
from training.maskrcnn.together import on_rank_0


class Validation:
    """Evaluates the model of a run on its splits."""

    def __init__(
        self,
        engine: Engine,
        splits: Sequence[Split],
        hyperparameters: Hyperparameters,
        *,
        log: LogChannel,
        recorder: Recorder,
        is_stop_requested: Callable[[], bool],
    ) -> None:
        self._engine = engine
        self._splits = splits
        self._hyperparameters = hyperparameters
        self._log = log
        self._recorder = recorder
        self._is_stop_requested = is_stop_requested

    def run(self, model: MaskRCNN, position: Position, *, epoch: float) -> float | None:
        """Evaluate and record.

        Returns:
            The mAP that tells which model is best: of masks, without them of boxes, of the first
            split; None where a rank was asked to stop.
        """
        score = None
        for split in self._splits:
            begin = time.perf_counter()
            evaluation = evaluate(
                self._engine,
                model,
                split,
                self._hyperparameters,
                is_stop_requested=self._is_stop_requested,
            )
            if evaluation is None:
                return None
            self._record(
                split, evaluation, position.step, epoch=epoch, took_s=time.perf_counter() - begin
            )
            if score is None:
                score = evaluation.metrics[f"mAP({evaluation.judged_by})/IoU=0.5:0.95"]
                self._write_files(split, evaluation, position.step)
        return score

    def _record(
        self, split: Split, evaluation: Evaluation, step: int, *, epoch: float, took_s: float
    ) -> None:
        """Record the first split under the metrics' own names, others under `name@split`."""
        suffix = "" if split is self._splits[0] else f"@{split.name}"
        metrics = {**evaluation.metrics, "evaluation_s": took_s}
        values = {f"{name}{suffix}": value for name, value in metrics.items()}
        self._recorder.record("evaluation", values, step=step, epoch=epoch)
        self._recorder.say(
            describe_evaluation(
                evaluation.metrics,
                split=split.name,
                step=step,
                pictures=len(split.records),
                took_s=took_s,
            )
        )
        pictures = self._hyperparameters.tensorboard_pictures
        self._recorder.show(
            split.name, drawn_pictures(split, evaluation.detections, count=pictures), step=step
        )
        for message in evaluation.broken:
            self._recorder.say(f"picture left out of {split.name}: {message}")

    def _write_files(self, split: Split, evaluation: Evaluation, step: int) -> None:
        def write() -> None:
            write_evaluation(self._log.evaluation, split, evaluation, step=step)
            best, worst = extremes(evaluation.matches)
            write_predictions(
                self._log.predictions,
                split,
                evaluation.detections,
                step=step,
                also=(*best, *worst),
            )

        on_rank_0(self._engine, write)
