"""A run that is killed, over and over, ends as the one that was left alone, bit for bit."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.maskrcnn.forks import fork_rank, variables_of_torch
from tests.training.maskrcnn.recorded import SCRIPT, Recorded
from training.layout import LogChannel, TrainChannel

LEAVES_S = 30
"""Longest time from SIGTERM to the end: what the launcher gives, too."""


@dataclass(frozen=True)
class KilledRun:
    """One run, started again after each kill."""

    data: TrainChannel
    folder: Path
    hyperparameters: Any

    @property
    def recorded(self) -> Recorded:
        return Recorded(
            self.folder / "drawn",
            LogChannel(self.folder / "log"),
            self.hyperparameters.batch_size_per_gpu,
            self.hyperparameters.images_per_epoch,
        )

    def start(self, **variables: str) -> BaseProcess:
        self.recorded.folder.mkdir(parents=True, exist_ok=True)
        hyperparameters = self.folder / "hyperparameters.json"
        hyperparameters.write_text(self.hyperparameters.model_dump_json())
        arguments = [
            *("--engine", "torch", "--data", str(self.data.root)),
            *("--log-dir", str(self.recorded.log.root)),
            *("--hyperparameters", str(hyperparameters)),
        ]
        noted = {"RECORDED": str(self.recorded.folder)}
        return fork_rank(SCRIPT, arguments, self.folder / "output", **noted, **variables)

    def start_two(self) -> list[BaseProcess]:
        return [self.start(**variables) for variables in variables_of_torch(2)]

    def checkpointed(self) -> int:
        """Return the step of the newest checkpoint."""
        paths = self.recorded.log.checkpoints.glob("step-*.pt")
        return max((int(path.stem.removeprefix("step-")) for path in paths), default=0)

    def is_saving(self) -> bool:
        return any(self.recorded.log.checkpoints.glob(".step-*.pt.*.tmp"))

    def kill_when(self, moment: Callable[[], bool], *, after_s: float = 0) -> bool:
        """Start, and kill at a moment; return whether it was still running."""
        rank = self.start()
        while not moment() and rank.is_alive():
            time.sleep(0.001)
        rank.join(after_s)
        was_running = rank.is_alive()
        rank.kill()
        rank.join()
        return was_running

    def finish(self) -> None:
        rank = self.start()
        rank.join(timeout=600)
        assert rank.exitcode == 0, (self.folder / "output").read_text()[-3000:]

    def kill_after_a_checkpoint(self, chance: random.Random) -> bool:
        """Kill once a new checkpoint is there: at any time of a step, or while the next is written.

        Returns:
            Whether it was still running.
        """
        before = self.checkpointed()
        if chance.random() < 0.5:
            return self.kill_when(lambda: self.checkpointed() > before and self.is_saving())
        return self.kill_when(lambda: self.checkpointed() > before, after_s=chance.uniform(0, 0.1))


def numbers(log: LogChannel) -> dict[int, tuple[float, float]]:
    """Return loss and learning rate of each step."""
    lines = [json.loads(line) for line in log.metrics.read_text().splitlines()]
    return {
        line["step"]: (line["values"]["total_loss"], line["values"]["learning_rate"])
        for line in lines
        if line["kind"] == "train"
    }


def assert_the_same(killed: LogChannel, unbroken: LogChannel) -> None:
    """Compare losses, rates and weights, bit for bit."""
    assert numbers(killed) == numbers(unbroken)
    for name in ("model", "best_model"):
        ours, theirs = (torch.load(getattr(log, name))["model"] for log in (killed, unbroken))
        assert ours.keys() == theirs.keys()
        for key, weight in ours.items():
            assert torch.equal(weight, theirs[key]), key


def test_killed_at_any_moment_a_run_ends_as_the_unbroken_one(
    one_rank: Any, shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    run = KilledRun(shapes, tmp_path, tiny(checkpoint_period=1))
    chance = random.Random(5)
    # Before anything is saved, then at four more moments.
    assert run.kill_when(lambda: bool(run.recorded.drawn()))
    for _ in range(4):
        assert run.kill_after_a_checkpoint(chance)
    run.finish()
    assert_the_same(run.recorded.log, one_rank.channel)
    run.recorded.check(images=48)


def test_one_rank_then_two_then_one_see_every_picture_once_a_pass(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    """Where one rank stops is within a batch of two; SIGTERM to one of two stops both."""
    hyperparameters = tiny(
        checkpoint_period=1, batch_size_per_gpu=3, images_per_epoch=90, keep_checkpoints=100
    )
    run = KilledRun(shapes, tmp_path, hyperparameters)
    run.kill_when(lambda: run.checkpointed() >= 3)
    for path in run.recorded.log.checkpoints.glob("step-*.pt"):
        if path.stem > "step-00000003":
            path.unlink()
    ranks = run.start_two()
    while run.checkpointed() < 6 and all(rank.is_alive() for rank in ranks):
        time.sleep(0.01)
    begin = time.monotonic()
    ranks[1].terminate()
    for rank in ranks:
        rank.join(timeout=60)
    assert [rank.exitcode for rank in ranks] == [75, 75], (tmp_path / "output").read_text()
    assert time.monotonic() - begin < LEAVES_S
    run.finish()
    run.recorded.check(images=90)
    sizes = {size for drawn in run.recorded.drawn().values() for _, size, _ in drawn}
    assert sizes == {1, 2}
    assert 9 in run.recorded.drawn()


@pytest.mark.parametrize("moment", ["a save", "an evaluation", "slow loading"])
def test_sigterm_at_a_bad_moment_is_obeyed_in_time(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, moment: str
) -> None:
    hyperparameters = tiny(checkpoint_period=1, images_per_epoch=40, data_val="train2017")
    run = KilledRun(shapes, tmp_path, hyperparameters)
    is_slow = moment == "slow loading"
    if is_slow:
        run.recorded.folder.mkdir()
        (run.recorded.folder / "slow").touch()
    rank = run.start(STEP_S="3" if is_slow else "0")
    moments: dict[str, Callable[[], bool]] = {
        "a save": lambda: run.checkpointed() > 1 and run.is_saving(),
        "an evaluation": lambda: run.checkpointed() == 10,
        "slow loading": lambda: run.checkpointed() == 1,
    }
    while not moments[moment]() and rank.is_alive():
        time.sleep(0.001)
    begin = time.monotonic()
    rank.terminate()
    rank.join(timeout=60)
    assert rank.exitcode == 75, (tmp_path / "output").read_text()
    assert time.monotonic() - begin < LEAVES_S
    left_at = run.checkpointed()
    assert json.loads(run.recorded.log.outcome.read_text())["step"] == left_at
    if moment == "an evaluation":
        lines = run.recorded.log.metrics.read_text(encoding="utf-8").splitlines()
        assert "evaluation" not in {json.loads(line)["kind"] for line in lines}


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_killed_at_each_of_twenty_points_a_run_ends_as_the_unbroken_one(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    hyperparameters = tiny(
        checkpoint_period=2, images_per_epoch=80, batch_norm="None", ema_decay=0.9, num_workers=1
    )
    unbroken = KilledRun(shapes, tmp_path / "unbroken", hyperparameters)
    unbroken.finish()
    for point in range(20):
        run = KilledRun(shapes, tmp_path / str(point), hyperparameters)
        seen = run.recorded.steps
        if point % 2:
            run.kill_when(lambda run=run, at=point: run.recorded.steps() >= at and run.is_saving())
        else:
            run.kill_when(lambda seen=seen, at=point: seen() >= at, after_s=0.01 * point)
        run.finish()
        assert_the_same(run.recorded.log, unbroken.recorded.log)
        run.recorded.check(images=80)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_hundred_kills_lose_no_picture_of_any_pass(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    hyperparameters = tiny(
        checkpoint_period=1, images_per_epoch=600, batch_size_per_gpu=1, keep_checkpoints=2
    )
    unbroken = KilledRun(shapes, tmp_path / "unbroken", hyperparameters)
    unbroken.finish()
    run = KilledRun(shapes, tmp_path / "killed", hyperparameters)
    chance = random.Random(7)
    kills = sum(run.kill_after_a_checkpoint(chance) for _ in range(100))
    assert kills == 100
    run.finish()
    assert_the_same(run.recorded.log, unbroken.recorded.log)
    run.recorded.check(images=600)
