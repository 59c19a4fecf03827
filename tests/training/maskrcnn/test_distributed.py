"""Two ranks against one: the same losses and weights, up to the rounding of float32 sums.

Tolerances: losses 1e-4 of their value, weights 1e-5 absolute, over twelve steps. Seen: 2e-7 and
3e-8 over fifteen. It holds as long as rounding flips no discrete choice, such as which of two
proposals with nearly equal scores survives: after that both runs are right, but different.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.maskrcnn.forks import run_ranks, variables_of_horovod, variables_of_torch
from training.layout import LogChannel, TrainChannel

PROGRAM = "training.maskrcnn.train"


def arguments(data: TrainChannel, log: Path, hyperparameters: Any, engine: str) -> list[str]:
    log.mkdir()
    file = log / "hyperparameters.json"
    file.write_text(hyperparameters.model_dump_json())
    return [
        *("--data", str(data.root), "--log-dir", str(log)),
        *("--hyperparameters", str(file), "--engine", engine),
    ]


def run_torch(words: list[str], **variables: str) -> list[tuple[int, str]]:
    """Run two ranks joined by torch.distributed; return exit codes and what they printed."""
    return run_ranks(PROGRAM, words, folder(words), [v | variables for v in variables_of_torch(2)])


def run_horovod(words: list[str]) -> list[tuple[int, str]]:
    """Run two ranks joined by Horovod; return exit codes and what they printed."""
    with variables_of_horovod(2) as variables:
        return run_ranks(PROGRAM, words, folder(words), variables)


def folder(words: list[str]) -> Path:
    """Return where the log folder is."""
    return Path(words[words.index("--log-dir") + 1]).parent


RUNNERS = {"horovod": run_horovod, "torch": run_torch}


def losses(log: Path) -> dict[int, float]:
    lines = map(json.loads, LogChannel(log).metrics.read_text().splitlines())
    return {line["step"]: line["values"]["total_loss"] for line in lines if line["kind"] == "train"}


def assert_agree(
    one: Path, other: Path, *, steps: int, tolerance: float, of_weights: float | None = None
) -> None:
    """Compare losses relatively and weights absolutely, with the same tolerance or their own."""
    assert list(losses(one)) == list(range(1, steps + 1))
    assert losses(other) == pytest.approx(losses(one), rel=tolerance)
    weights, others = (torch.load(LogChannel(log).model)["model"] for log in (one, other))
    for name, weight in weights.items():
        torch.testing.assert_close(
            others[name],
            weight,
            rtol=0,
            atol=of_weights or tolerance,
            msg=lambda text, name=name: f"{name}: {text}",
        )


@pytest.fixture(scope="module")
def two_ranks(
    shapes: TrainChannel, tiny: Any, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, str]]:
    """Train twelve steps with two ranks of an engine, once; return the log and all output."""

    @cache
    def train(engine: str) -> tuple[Path, str]:
        log = tmp_path_factory.mktemp(engine) / "log"
        ranks = RUNNERS[engine](arguments(shapes, log, tiny(batch_size_per_gpu=2), engine))
        assert {code for code, _ in ranks} == {0}, ranks
        return log, "".join(output for _, output in ranks)

    return train


@pytest.mark.parametrize("engine", ["horovod", "torch"])
def test_two_ranks_take_the_steps_of_one_rank(one_rank: Any, two_ranks: Any, engine: str) -> None:
    log, output = two_ranks(engine)
    assert_agree(one_rank.channel.root, log, steps=12, tolerance=1e-4)
    assert output.count("12/12") == 1
    judged = (json.loads(one.evaluation.read_text()) for one in (one_rank.channel, LogChannel(log)))
    alone, together = (one["pictures"]["ids"] for one in judged)
    assert together == alone
    assert json.loads(LogChannel(log).outcome.read_text()) == {
        "status": "completed",
        "step": 12,
        "message": "trained to the end of the schedule",
    }


def test_both_engines_take_the_same_steps(two_ranks: Any) -> None:
    assert_agree(two_ranks("horovod")[0], two_ranks("torch")[0], steps=12, tolerance=1e-6)


@pytest.mark.parametrize("engine", ["horovod", "torch"])
def test_two_ranks_with_several_batches_a_step_are_one_rank_with_twice_the_batches(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, train_in_process: Any, engine: str
) -> None:
    """Down to the average of the weights, which is what model.pt holds."""
    several = {"accumulation_steps": 2, "images_per_epoch": 12, "ema_decay": 0.9}
    alone = train_in_process(
        shapes, tmp_path / "alone", tiny(**several, optimizer="lars", batch_size_per_gpu=2)
    )
    log = tmp_path / "log"
    hyperparameters = tiny(**several, optimizer="lars", batch_size_per_gpu=1)
    ranks = RUNNERS[engine](arguments(shapes, log, hyperparameters, engine))
    assert {code for code, _ in ranks} == {0}, ranks
    assert_agree(alone.channel.root, log, steps=3, tolerance=1e-4)


def test_the_engine_smddp_joins_ranks_by_the_backend_that_the_library_registers(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    """The library itself runs on SageMaker's GPU instances alone."""
    hyperparameters = tiny(batch_size_per_gpu=2, images_per_epoch=12)
    ranks = run_torch(
        arguments(shapes, tmp_path / "log", hyperparameters, "smddp"),
        PYTHONPATH=str(Path(__file__).with_name("engines") / "stand_in"),
    )
    assert {code for code, _ in ranks} == {0}, ranks
    for rank, (_, output) in enumerate(ranks):
        assert f"a backend named smddp joins {rank} 2 0:30:00" in output


WITHOUT_PYRAMID = {
    "mode_fpn": False,
    "resnet_arch": "resnet18",
    "roi_batch_per_image": 6,
    "rpn_post_nms_test": 5,
    "images_per_epoch": 4,
}
"""Statistics of its fifth stage are those of all ranks' proposals. After one step of its more
layers weights differ by 1.5e-8 at most; by the third, rounding has grown beyond the tolerance."""


@pytest.mark.parametrize(
    ("engine", "model"),
    [("horovod", {"images_per_epoch": 12}), ("torch", WITHOUT_PYRAMID)],
    ids=["horovod", "torch without a pyramid"],
)
def test_sync_batch_norm_of_two_ranks_is_batch_norm_of_one(  # noqa: PLR0917 (fixtures)
    shapes: TrainChannel,
    tiny: Any,
    tmp_path: Path,
    train_in_process: Any,
    engine: str,
    model: dict[str, Any],
) -> None:
    """Statistics of few values make rounding grow: fewer steps, and a wider tolerance.

    Each rank with statistics of its own differs by 0.4% in the first loss, by 3% in the second.
    """
    in_sync = {"batch_norm": "SyncBN", **model}
    alone = train_in_process(shapes, tmp_path / "alone", tiny(**in_sync))
    log = tmp_path / "log"
    ranks = RUNNERS[engine](arguments(shapes, log, tiny(**in_sync, batch_size_per_gpu=2), engine))
    assert {code for code, _ in ranks} == {0}, ranks
    steps = model["images_per_epoch"] // 4
    assert_agree(alone.channel.root, log, steps=steps, tolerance=1e-4)


def test_a_rank_that_fails_alone_tells_why_and_no_rank_goes_on(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    """Each rank meets pictures that cannot be used; together they are too many."""
    data = TrainChannel(tmp_path / "data")
    shutil.copytree(shapes.root, data.root)
    for file in data.images("train2017").iterdir():
        file.write_bytes(b"oops")
    log = tmp_path / "log"
    ranks = run_torch(arguments(data, log, tiny(max_broken_pictures=1), "torch"))
    assert [code for code, _ in ranks] == [1, 1], ranks
    assert "Traceback" not in ranks[0][1] + ranks[1][1]
    outcome = json.loads(LogChannel(log).outcome.read_text())
    assert outcome["status"] == "failed"
    assert "max_broken_pictures 1" in outcome["message"]
