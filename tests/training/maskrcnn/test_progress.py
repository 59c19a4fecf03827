from __future__ import annotations

import os
import time

from training.maskrcnn.model.losses import LOSSES, NAMES
from training.maskrcnn.progress import (
    Window,
    describe,
    describe_evaluation,
    host_memory_mib,
)
from training.maskrcnn.step_numbers import Totals


def totals(total: float, count: float) -> Totals:
    return Totals(dict.fromkeys(NAMES, total), dict.fromkeys(NAMES, count), False, 0)


def test_metrics_are_means_over_all_counts_since_the_last_read() -> None:
    window = Window()
    window.add(totals(3, 1))
    window.add(totals(5, 3))
    values = window.read(global_batch_size=8, learning_rate=0.1)
    assert values["fastrcnn_losses/box_loss"] == 8 / 4
    assert values["total_loss"] == 5 * 8 / 4
    window.add(totals(1, 2))
    assert window.read(global_batch_size=8, learning_rate=0.1)["total_loss"] == 5 * 1 / 2


def test_without_counts_a_loss_is_zero_and_a_metric_absent() -> None:
    window = Window()
    window.add(totals(0, 0))
    values = window.read(global_batch_size=8, learning_rate=0.1)
    assert {values[name] for name in LOSSES} == {0}
    assert "maskrcnn_loss/accuracy" not in values


def test_a_line_has_the_pictures_of_a_step_whose_number_changes_with_the_ranks() -> None:
    window = Window()
    window.add(totals(1, 1))
    assert window.read(global_batch_size=24, learning_rate=0.1)["global_batch_size"] == 24


def test_evaluation_does_not_count_as_training_time() -> None:
    window = Window()
    with window.paused():
        time.sleep(0.3)
    window.add(totals(1, 1))
    assert window.read(global_batch_size=1, learning_rate=0.1)["images_per_second"] > 10


def test_a_line_of_progress_says_how_fast_it_is_and_what_is_left() -> None:
    values = {
        **dict.fromkeys(NAMES, 0.5),
        "total_loss": 2.5,
        "learning_rate": 0.01,
        "images_per_second": 20.0,
        "data_wait_share": 0.5,
        "memory_mib": 900.0,
        "host_mib": 1200.0,
    }
    line = describe(values, step=30, total_steps=90, epoch=1.5, images_left=1200)
    assert line.startswith("step 30/90 epoch 1.50 loss 2.5000 (object 0.500 ")
    assert line.endswith("20.0 img/s data wait 50% memory 900 MiB host 1200 MiB left 0:01:00")
    endless = describe(values, step=30, total_steps=90, epoch=1.5, images_left=10**15)
    assert endless.endswith("left ?")


def test_an_evaluation_is_a_line_with_its_scores_and_speed() -> None:
    metrics = {
        "mAP(bbox)/IoU=0.5:0.95": 0.25,
        "mAP(bbox)/IoU=0.5": 0.5,
        "mAP(bbox)/IoU=0.75": 0.1,
    }
    line = describe_evaluation(metrics, split="val2017", step=7, pictures=50, took_s=100)
    assert line == (
        "evaluated val2017 after step 7: mAP(bbox) 0.250 (IoU=0.5 0.500); 50 pictures in "
        "0:01:40, 0.5 img/s"
    )
    both = {**metrics, "mAP(segm)/IoU=0.5:0.95": 0.2, "mAP(segm)/IoU=0.5": 0.4}
    line = describe_evaluation(both, split="val2017", step=7, pictures=50, took_s=100)
    assert "mAP(segm) 0.200 (IoU=0.5 0.400), mAP(bbox)" in line


def test_host_memory_counts_what_processes_share_once() -> None:
    shared = bytearray(64 * 2**20)
    before = host_memory_mib()
    child = os.fork()
    if child == 0:
        time.sleep(60)
    try:
        assert host_memory_mib() < before + 48
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert len(shared) / 2**20 < before
