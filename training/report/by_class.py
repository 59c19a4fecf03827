"""What the page shows of the last evaluation by class.

It comes from our trainer's evaluation.json, or from TensorPack's detections and the data set.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.layout import LogChannel, TrainChannel
from training.report.classes import ClassTable, class_table
from training.report.confusion import Confusion, confusion
from training.report.evaluation import BadEvaluation, Evaluation, read_evaluation
from training.report.judged import judge_outputs
from training.report.precision_recall import Curves, precision_recall


@dataclass(frozen=True)
class ByClass:
    """The parts of the page; None where there is nothing to show."""

    evaluation: Evaluation | None = None
    table: ClassTable | None = None
    curves: Curves | None = None
    confusion: Confusion | None = None
    problem: str | None = None
    """Why what is there cannot be used."""


def by_class(log: LogChannel, train: TrainChannel | None) -> ByClass:
    """Read or make the last evaluation; a log with neither file shows nothing.

    Args:
        train: The data set, if it is at hand.
    """
    try:
        evaluation = read_evaluation(log)
        if evaluation is None and not log.predictions.exists():
            evaluation = judge_outputs(log, train)
    except BadEvaluation as error:
        return ByClass(problem=str(error))
    if evaluation is None:
        return ByClass()
    return ByClass(
        evaluation=evaluation,
        table=class_table(evaluation),
        curves=precision_recall(evaluation),
        confusion=confusion(evaluation),
    )
