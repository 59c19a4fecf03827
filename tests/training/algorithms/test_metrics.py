"""SageMaker's rule: each line is searched with each expression, the first group is the number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from training import algorithms
from training.algorithms.metric import Metric, metric
from training.layout import LogChannel

SAGEMAKER_LIMITS = {"definitions": 40, "name": 255, "regex": 500}
"""Of CreateTrainingJob (botocore's model: MetricDefinitionList, MetricName, MetricRegex)."""

ORIGINAL = {
    **{
        name: rf".*{name}:\s*(\S+).*"
        for name in (
            "fastrcnn_losses/box_loss",
            "fastrcnn_losses/label_loss",
            "fastrcnn_losses/label_metrics/accuracy",
            "fastrcnn_losses/label_metrics/false_negative",
            "fastrcnn_losses/label_metrics/fg_accuracy",
            "fastrcnn_losses/num_fg_label",
            "maskrcnn_loss/accuracy",
            "maskrcnn_loss/fg_pixel_ratio",
            "maskrcnn_loss/maskrcnn_loss",
            "maskrcnn_loss/pos_accuracy",
        )
    },
    "mAP(bbox)/IoU=0.5": r".*mAP\(bbox\)/IoU=0\.5:\s*(\S+).*",
    "mAP(bbox)/IoU=0.5:0.95": r".*mAP\(bbox\)/IoU=0\.5:0\.95:\s*(\S+).*",
    "mAP(bbox)/IoU=0.75": r".*mAP\(bbox\)/IoU=0\.75:\s*(\S+).*",
    "mAP(bbox)/large": r".*mAP\(bbox\)/large:\s*(\S+).*",
    "mAP(bbox)/medium": r".*mAP\(bbox\)/medium:\s*(\S+).*",
    "mAP(bbox)/small": r".*mAP\(bbox\)/small:\s*(\S+).*",
    "mAP(segm)/IoU=0.5": r".*mAP\(segm\)/IoU=0\.5:\s*(\S+).*",
    "mAP(segm)/IoU=0.5:0.95": r".*mAP\(segm\)/IoU=0\.5:0\.95:\s*(\S+).*",
    "mAP(segm)/IoU=0.75": r".*mAP\(segm\)/IoU=0\.75:\s*(\S+).*",
    "mAP(segm)/large": r".*mAP\(segm\)/large:\s*(\S+).*",
    "mAP(segm)/medium": r".*mAP\(segm\)/medium:\s*(\S+).*",
    "mAP(segm)/small": r".*mAP\(segm\)/small:\s*(\S+).*",
}
"""Name and expression of the original tutorial's jobs."""


def found(metrics: Iterable[Metric], lines: Iterable[str]) -> dict[str, list[float]]:
    """Return what SageMaker would find; a group that is no number is an error here."""
    values: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        for one in metrics:
            match = re.search(one.regex, line)
            if match is not None:
                values[one.name].append(float(match[1]))
    return values


def metrics_of(algorithm: str) -> tuple[Metric, ...]:
    return algorithms.load(algorithm).METRICS


@pytest.mark.parametrize("algorithm", algorithms.NAMES)
def test_they_fit_into_a_request(algorithm: str) -> None:
    metrics = metrics_of(algorithm)
    assert len(metrics) <= SAGEMAKER_LIMITS["definitions"]
    assert len({one.name for one in metrics}) == len(metrics)
    assert all(len(one.name) <= SAGEMAKER_LIMITS["name"] for one in metrics)
    assert all(len(one.regex) <= SAGEMAKER_LIMITS["regex"] for one in metrics)


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
def test_they_are_the_originals_but_for_the_one_that_finds_another_metric(algorithm: str) -> None:
    own = {one.name: one.regex for one in metrics_of(algorithm)}
    assert own.keys() == ORIGINAL.keys()
    differs = {name for name in own if own[name] != ORIGINAL[name]}
    assert differs == {"mAP(bbox)/IoU=0.5", "mAP(segm)/IoU=0.5"}
    for name in differs:
        assert own[name] == ORIGINAL[name].replace(r":\s*", r":\s+")
        # Why: the original finds this, which is no number, in another metric's line.
        match = re.search(ORIGINAL[name], f"{name}:0.95: 0.375")
        assert match is not None
        assert match[1] == "0.95:"


def tensorpack_line(name: str, value: float) -> str:
    """A line as tensorpack/callbacks/monitor.py (ScalarPrinter) and utils/logger.py print it."""
    return f"\x1b[32m[1128 14:00:00 @monitor.py:476]\x1b[0m {name}: {value:.5g}"


NUMBERS = {name: 0.5 + number / 100 for number, name in enumerate(ORIGINAL)}

# What else it prints at the end of an epoch, which must not be taken for one of them.
NOISE = {
    "QueueInput/queue_size": 49.2,
    "learning_rate": 0.01,
    "rpn_losses/box_loss": 0.05,
    "rpn_losses/label_loss": 0.06,
    "rpn_losses/label_metrics/precision_th0.5": 0.7,
    "rpn_losses/level2/box_loss": 0.01,
    "sample_fast_rcnn_targets/num_fg": 33.0,
    "total_cost": 0.9,
    "wd_cost": 0.3,
}


@pytest.mark.parametrize(
    ("algorithm", "prefix"),
    # examples/FasterRCNN/eval.py puts the data set before its averages; AWS's eval.py does not.
    [("tensorpack", "coco_val2017-"), ("aws-samples", "")],
)
@pytest.mark.parametrize("before", ["", "[rank 0] ", "[1,0]<stdout>:"])
def test_each_is_found_once_in_the_lines_of_tensorpack(
    algorithm: str, prefix: str, before: str
) -> None:
    lines = [
        before + tensorpack_line(prefix + name if name.startswith("mAP") else name, value)
        for name, value in {**NUMBERS, **NOISE}.items()
    ]
    assert found(metrics_of(algorithm), lines) == {
        name: [pytest.approx(value)] for name, value in NUMBERS.items()
    }


def test_each_is_found_once_in_the_lines_of_our_trainer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from training.maskrcnn.coco_eval import NAMES as AVERAGES
    from training.maskrcnn.metrics import FileRecorder
    from training.maskrcnn.model.losses import NAMES as LOSSES
    from training.maskrcnn.progress import describe

    trained = {
        name: 0.001 * number
        for number, name in enumerate(
            (*LOSSES, "total_loss", "learning_rate", "images_per_second", "data_wait_share"), 1
        )
    }
    trained["memory_mib"] = 12345.678
    trained["host_mib"] = 2345.678
    evaluated = {
        f"mAP({kind})/{name}": 0.01 * number
        for kind in ("bbox", "segm")
        for number, name in enumerate(AVERAGES, 1)
    }
    evaluated |= {f"mAR({kind})/detections=100": 0.3 for kind in ("bbox", "segm")}
    evaluated["evaluation_s"] = 2.3
    others = {f"mAR(bbox)/{name}": 0.2 for name in ("detections=1", "detections=10", "small")}
    recorder = FileRecorder(LogChannel(tmp_path), step=0)
    recorder.record("train", trained, step=20, epoch=0.1)
    recorder.record("evaluation", {**evaluated, **others}, step=20, epoch=0.1)
    recorder.say(describe(trained, step=20, total_steps=40, epoch=0.1, images_left=80))
    recorder.close()
    printed = capsys.readouterr()
    # SageMaker sees both streams.
    values = found(metrics_of("horovod"), (printed.out + printed.err).splitlines())
    assert values == {
        name: [pytest.approx(value, rel=1e-5)] for name, value in {**trained, **evaluated}.items()
    }


def test_our_trainer_has_the_originals_and_prints_all_that_it_promises() -> None:
    assert {one.name for one in metrics_of("horovod")} > ORIGINAL.keys()


def test_each_is_found_in_the_lines_of_tf2_smddp() -> None:
    """Formats: mask_rcnn/utils/{logging_formatter,logging_backend}.py and evaluation.py."""
    names = [one.name for one in metrics_of("tf2-smddp")]
    values = {name: 0.25 + number / 100 for number, name in enumerate(names)}
    lines = [
        "[MaskRCNN] INFO    : timestamp: 1606572000.123",
        "[MaskRCNN] INFO    : iteration: 100",
        f"[MaskRCNN] INFO    : throughput: {values['throughput']:.2f} samples/sec",
        "[MaskRCNN] INFO    : Average throughput: 123.4 samples/sec",
        "[MaskRCNN] INFO    : ARmax100: 0.400000000",
        "[MaskRCNN] INFO    : mask_ARl: 0.500000000",
        *(
            f"[MaskRCNN] INFO    : {name}: {value}"
            for name, value in values.items()
            if name != "throughput"
        ),
    ]
    assert found(metrics_of("tf2-smddp"), lines) == {
        name: [pytest.approx(value)] for name, value in values.items()
    }


def test_tf2_smddp_prints_small_numbers_with_an_exponent() -> None:
    lines = ["[MaskRCNN] INFO    : Learning rate: 4.0000e-05"]
    assert found(metrics_of("tf2-smddp"), lines) == {"Learning rate": [4e-5]}


def test_a_name_is_taken_letter_by_letter() -> None:
    assert re.search(metric("a.b(c)").regex, "axb(c): 1") is None
    assert re.search(metric("a.b(c)").regex, "a.b(c): 1") is not None
