from __future__ import annotations

import time

import pytest

from training.maskrcnn.model.losses import LOSSES, NAMES
from training.maskrcnn.progress import Window, describe
from training.maskrcnn.step import Totals


def totals(total: float, count: float) -> Totals:
    return Totals(dict.fromkeys(NAMES, total), dict.fromkeys(NAMES, count), False, 0)


def test_metrics_are_means_over_all_counts_since_the_last_read() -> None:
    window = Window()
    window.add(totals(3, 1), data_wait_s=0)
    window.add(totals(5, 3), data_wait_s=0)
    values = window.read(global_batch_size=8, learning_rate=0.1)
    assert values["fastrcnn_losses/box_loss"] == 8 / 4
    assert values["total_loss"] == 5 * 8 / 4
    window.add(totals(1, 2), data_wait_s=0)
    assert window.read(global_batch_size=8, learning_rate=0.1)["total_loss"] == 5 * 1 / 2


def test_without_counts_a_loss_is_zero_and_a_metric_absent() -> None:
    window = Window()
    window.add(totals(0, 0), data_wait_s=0)
    values = window.read(global_batch_size=8, learning_rate=0.1)
    assert {values[name] for name in LOSSES} == {0}
    assert "maskrcnn_loss/accuracy" not in values


def test_evaluation_does_not_count_as_training_time() -> None:
    window = Window()
    with window.paused():
        time.sleep(0.3)
    window.add(totals(1, 1), data_wait_s=0)
    assert window.read(global_batch_size=1, learning_rate=0.1)["images_per_second"] > 10


@pytest.mark.parametrize(("share", "warned"), [(0.05, False), (0.5, True)])
def test_progress_warns_where_loading_is_the_bottleneck(share: float, warned: bool) -> None:
    values = {
        **dict.fromkeys(NAMES, 0.5),
        "total_loss": 2.5,
        "learning_rate": 0.01,
        "images_per_second": 20.0,
        "data_wait_share": share,
        "memory_mib": 900.0,
    }
    line = describe(values, step=30, total_steps=90, epoch=1.5, images_left=1200)
    assert line.startswith("step 30/90 epoch 1.50 loss 2.5000 (object 0.500 ")
    assert "20.0 img/s" in line
    assert "left 0:01:00" in line
    assert ("raise num_workers" in line) == warned
