"""Judges the detections that TensorPack left, with what judges our own trainer's.

It takes what the trainer is made with (requirements-train.txt), which the launcher alone lacks.
"""

from __future__ import annotations

from typing import Any

from training.errors import TrainingError
from training.layout import LogChannel, TrainChannel
from training.report.evaluation import BadEvaluation, Evaluation
from training.report.tensorpack import Outputs, find_attempts, newest_outputs, read_outputs


def judge_outputs(log: LogChannel, train: TrainChannel | None) -> Evaluation | None:
    """Return the last evaluation of a log that has its detections; None where it has none.

    Args:
        train: The data set that they are of; None: it is not at hand, so that nothing can be told.

    Raises:
        BadEvaluation: They cannot be judged.
    """
    outputs = newest_outputs(find_attempts(log.root))
    if outputs is None or train is None:
        return None
    try:
        return Evaluation.model_validate(_document(outputs, train))
    except ImportError as error:
        raise BadEvaluation(
            f"Nothing is told by class: {error.name} is not installed. Make the report where "
            "requirements-train.txt is."
        ) from error
    except TrainingError as error:
        raise BadEvaluation(f"Nothing is told by class: {error}.") from error
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise BadEvaluation(
            f"Nothing is told by class: {outputs.path.name} is not in COCO's result format "
            f"({error!r})."
        ) from error


def _document(outputs: Outputs, train: TrainChannel) -> dict[str, Any]:
    from training.maskrcnn.coco_eval import IouType, compare
    from training.maskrcnn.data.coco import read_split
    from training.maskrcnn.evaluate import Evaluation as Judged
    from training.maskrcnn.evaluation_files import evaluation_document
    from training.maskrcnn.found import Found
    from training.maskrcnn.matches import match

    split = read_split(train, outputs.split)
    detections = [one for one in read_outputs(outputs) if one["category_id"] in split.categories]
    has_masks = bool(detections) and all("segmentation" in one for one in detections)
    found = Found.from_coco(detections, with_masks=has_masks)
    kinds: tuple[IouType, ...] = ("bbox", "segm") if has_masks else ("bbox",)
    judged = Judged(
        comparison=compare(split.records, split.categories, found, kinds=kinds),
        judged_by=kinds[-1],
        matches=match(split.records, split.categories, found, kind=kinds[-1]),
        detections=found,
        broken=(),
    )
    return evaluation_document(split, judged, step=outputs.step)
