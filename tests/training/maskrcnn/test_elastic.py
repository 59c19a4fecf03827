"""Real ranks under horovodrun, with a program that tells which hosts there are."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.training.maskrcnn.recorded import SCRIPT, Recorded
from training.layout import LogChannel, TrainChannel
from training.platforms.local_elastic import host_names

ROOT = Path(__file__).parents[3]
HOROVODRUN = Path(sys.executable).parent / "horovodrun"

LEAVES_S = 30
"""Longest time from SIGTERM to the end."""
GOES_ON_S = 20
"""Longest time from the loss of a rank to the next step of the others."""


@dataclass
class ElasticRun:
    """A run whose hosts a test chooses."""

    folder: Path
    recorded: Recorded
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(encoding="utf-8", errors="replace")

    def set_hosts(self, hosts: list[str]) -> None:
        aside = self.folder / "hosts.new"
        aside.write_text("".join(f"{host}:1\n" for host in hosts))
        aside.replace(self.folder / "hosts")

    def ranks(self) -> list[psutil.Process]:
        """Return the processes of the ranks, without what they forked."""
        found = {}
        for child in _descendants(self.process.pid):
            with suppress(psutil.NoSuchProcess):
                if child.cmdline()[1:2] == [str(SCRIPT)]:
                    found[child.pid] = (child, child.ppid())
        return [child for child, parent in found.values() if parent not in found]

    def wait(self, what: Callable[[], bool], *, timeout_s: float = 90) -> float:
        """Wait until something is so; return how long it took."""
        begin = time.monotonic()
        while not what():
            assert self.process.poll() is None, self.output[-3000:]
            assert time.monotonic() - begin < timeout_s, self.output[-3000:]
            time.sleep(0.05)
        return time.monotonic() - begin

    def wait_for_steps(self, count: int) -> float:
        """Wait until so many steps more are taken; return how long it took."""
        goal = self.recorded.steps() + count
        return self.wait(lambda: self.recorded.steps() >= goal)

    def size(self) -> int:
        """Return the number of ranks that began the last step."""
        drawn = self.recorded.drawn()
        return drawn[max(drawn)][-1][1] if drawn else 0

    def lose_rank(self, chance: random.Random, *, left: int) -> float:
        """Kill a rank, and wait until the others have taken a step; return how long it took."""
        begin = time.monotonic()
        chance.choice(self.ranks()).send_signal(signal.SIGKILL)
        self.wait(lambda: self.size() == left)
        self.wait_for_steps(1)
        took_s = time.monotonic() - begin
        assert took_s < GOES_ON_S
        return took_s

    def release(self) -> None:
        """Let the rest of the run go at full speed."""
        (self.folder / "drawn" / "slow").unlink(missing_ok=True)


@contextmanager
def elastic_run(
    data: TrainChannel,
    folder: Path,
    hyperparameters: Any,
    hosts: list[str],
    *,
    step_s: float,
    options: tuple[str, ...] = (),
) -> Iterator[ElasticRun]:
    recorded = Recorded(
        folder / "drawn",
        LogChannel(folder / "log"),
        hyperparameters.batch_size_per_gpu,
        hyperparameters.images_per_epoch,
    )
    run = ElasticRun(folder, recorded)
    (folder / "drawn").mkdir()
    (folder / "drawn" / "slow").touch()
    (folder / "hyperparameters.json").write_text(hyperparameters.model_dump_json())
    discovery = folder / "discovery"
    discovery.write_text(f"#!/bin/sh\ncat '{folder / 'hosts'}'\n")
    discovery.chmod(0o755)
    run.set_hosts(hosts)
    with (folder / "output").open("wb") as output:
        run.process = subprocess.Popen(
            [
                *(str(HOROVODRUN), "-np", str(len(hosts)), "--min-np", "1", "--max-np", "4"),
                *("--host-discovery-script", str(discovery), *options),
                *("--gloo", "--network-interfaces", "lo"),
                *(sys.executable, str(SCRIPT), "--data", str(data.root)),
                # As the launcher starts a new run: whoever joins later finds checkpoints there.
                *("--log-dir", str(recorded.log.root), "--resume", "never"),
                *("--hyperparameters", str(folder / "hyperparameters.json")),
            ],
            cwd=ROOT,
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": str(ROOT),
                "RECORDED": str(folder / "drawn"),
                "STEP_S": str(step_s),
                "HOROVOD_CYCLE_TIME": "5",
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield run
    finally:
        for process in [*_descendants(run.process.pid), run.process]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        run.process.wait()


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def outcome(run: ElasticRun) -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(run.recorded.log.outcome.read_text())
    return document


def test_a_killed_rank_leaves_the_others_training_and_a_new_host_joins(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    """Three ranks, one of them killed, and another comes: then each of 20 passes is whole."""
    hyperparameters = tiny(
        images_per_epoch=360, batch_size_per_gpu=1, num_workers=1, checkpoint_period=1000
    )
    hosts = host_names(4)
    with elastic_run(shapes, tmp_path, hyperparameters, hosts[:3], step_s=0.4) as run:
        run.wait_for_steps(3)
        assert run.size() == 3
        run.lose_rank(random.Random(0), left=2)
        run.set_hosts([*hosts[:3], hosts[3]])
        run.wait(lambda: run.size() == 3)
        run.wait_for_steps(5)
        run.release()
        assert run.process.wait(timeout=120) == 0, run.output[-3000:]
        assert outcome(run)["status"] == "completed"
        run.recorded.check(images=360)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_eight_losses_later_every_pass_is_whole_and_memory_is_what_it_was(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    """Any rank is lost, the first one too, and comes back after a while: who is left goes on."""
    hyperparameters = tiny(
        images_per_epoch=9000, batch_size_per_gpu=1, num_workers=2, batch_norm="None"
    )
    cooldown = ("--blacklist-cooldown-range", "2", "6")
    chance = random.Random(3)
    took_s: list[float] = []
    memory: dict[int, list[int]] = {}
    with elastic_run(
        shapes, tmp_path, hyperparameters, host_names(3), step_s=0.2, options=cooldown
    ) as run:
        for _ in range(8):
            run.wait(lambda: run.size() == 3)
            run.wait_for_steps(5)
            for rank in run.ranks():
                assert len(rank.children()) == 2, "the workers of now, and none of before"
                memory.setdefault(rank.pid, []).append(rank.memory_full_info().uss)
            took_s.append(run.lose_rank(chance, left=2))
        run.release()
        assert run.process.wait(timeout=900) == 0, run.output[-3000:]
        assert outcome(run)["status"] == "completed"
        run.recorded.check(images=9000)
    assert max(took_s) < GOES_ON_S
    longest = max(memory.values(), key=len)
    # The first time a rank builds everything again fills the allocator's pools.
    assert max(longest[1:]) < 1.1 * longest[min(1, len(longest) - 1)], longest


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_sigterm_to_one_elastic_rank_stops_all_in_time_with_a_checkpoint(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    hyperparameters = tiny(images_per_epoch=360, batch_size_per_gpu=1, checkpoint_period=1000)
    with elastic_run(shapes, tmp_path, hyperparameters, host_names(2), step_s=0.2) as run:
        run.wait_for_steps(3)
        begin = time.monotonic()
        run.ranks()[1].terminate()
        # horovodrun itself tells only that its processes did not end with 0.
        assert run.process.wait(timeout=60) == 1
        assert time.monotonic() - begin < LEAVES_S
        assert outcome(run)["status"] == "checkpointed"
        assert outcome(run)["step"] == run.recorded.steps()
