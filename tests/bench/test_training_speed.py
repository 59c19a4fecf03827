from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
import torch
from torchvision.models.detection import maskrcnn_resnet50_fpn

from bench.reference_data import ProportionBatches, ReferencePictures
from bench.reference_loop import SmoothedLog
from bench.reference_model import reference_like
from bench.training_run import Measured, Settings, our_hyperparameters
from bench.training_speed import REFERENCE, Result, Variant
from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.sampler import Draw
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.maskrcnn import build_model

COCO = TrainChannel(Path(__file__).parents[2] / "tests" / "data" / "coco")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def pictures() -> ReferencePictures:
    return ReferencePictures(COCO.images("train2017"), COCO.annotations("train2017"))


def test_both_have_the_same_pictures_and_targets(
    pictures: ReferencePictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.reference_data.FLIP_PROBABILITY", 0)
    records = read_split(COCO, "train2017").records.with_objects()
    assert len(pictures) == len(records) > 5
    for index, record in enumerate(records):
        if record.is_crowd.any():
            continue
        pixels, target = pictures[index]
        assert tuple(pixels.shape) == (3, record.height, record.width)
        assert target["labels"].tolist() == record.labels.tolist()
        torch.testing.assert_close(target["boxes"], torch.from_numpy(record.boxes))
        short_side = min(record.height, record.width)
        ours = TrainingPictures(
            records,
            Hyperparameters(
                image_short_sides=(short_side,), image_max_side=10_000, flip_probability=0
            ),
        )[Draw(index, 0)]
        assert torch.equal(ours.target.masks.whole(), target["masks"])
        torch.testing.assert_close(ours.pixels / 255, pixels)


def test_the_mirrored_picture_has_mirrored_targets(
    pictures: ReferencePictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, mirrored = [], []
    for kept, chance in ((plain, 0), (mirrored, 1)):
        monkeypatch.setattr("bench.reference_data.FLIP_PROBABILITY", chance)
        kept.append(pictures[0])
    (pixels, target), (turned, turned_target) = plain[0], mirrored[0]
    width = pixels.shape[2]
    assert torch.equal(turned, pixels.flip(-1))
    assert torch.equal(turned_target["masks"], target["masks"].flip(-1))
    assert torch.equal(turned_target["boxes"][:, 0], width - target["boxes"][:, 2])


def test_batches_hold_pictures_of_like_proportions(pictures: ReferencePictures) -> None:
    torch.manual_seed(0)
    a_pass = len(pictures) // 2
    batches = list(islice(iter(ProportionBatches(pictures, 2)), 3 * a_pass))
    for batch in batches:
        assert len(batch) == 2
        first, second = (pictures.proportion(index) for index in batch)
        assert max(first / second, second / first) < 2
        assert (first < 1) == (second < 1)
    assert {index for batch in batches for index in batch} == set(range(len(pictures)))


def test_both_models_have_the_same_weights_and_train_the_same_of_them() -> None:
    settings = Settings(
        side="ours",
        precision="fp32",
        data="",
        weights="weights.pt",
        size=320,
        batch_size=2,
        steps=1,
        warmup=1,
        threads=1,
        changes={},
    )
    hyperparameters = our_hyperparameters(settings)
    ours = build_model(hyperparameters, categories=80, sum_over_ranks=lambda tensor: tensor)
    theirs = reference_like(hyperparameters, ours.state_dict(), outputs=81)
    names = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None).state_dict().keys()
    assert theirs.state_dict().keys() == {n for n in names if "num_batches_tracked" not in n}
    trained, wanted = (
        {name for name, p in model.named_parameters() if p.requires_grad}
        for model in (ours, theirs)
    )
    assert trained == wanted
    transform = theirs.transform
    assert hyperparameters.image_max_side == 533
    assert (transform.min_size, transform.max_size) == ((320,), 533)


def test_ratios_are_those_of_the_median_runs() -> None:
    def runs(*step_s: float) -> tuple[Measured, ...]:
        return tuple(Measured([s, s], 2 * s, 1.0, 1.0) for s in step_s)

    reference = Result(REFERENCE, 2, runs(1.0, 9.0, 1.2))
    ours = Result(Variant("ours", "ours", "fp32", at_least=1.15), 2, runs(1.0, 0.9, 5.0))
    shown = ours.to_json(reference)
    assert shown["images_per_second"] == pytest.approx(2.0)
    assert (shown["ratio"], shown["passed"]) == (1.2, True)
    assert shown["cpu_ratio"] == 1.2
    slow = Result(ours.variant, 2, runs(1.1)).to_json(reference)
    assert (slow["ratio"], slow["passed"]) == (1.091, False)


def test_the_log_line_has_the_medians() -> None:
    log = SmoothedLog()
    for value in range(21):
        assert log.add({"loss": torch.tensor(float(value))}) == {"loss": value}
    assert log.line == "loss: 10.0000"
