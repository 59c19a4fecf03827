from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from training import algorithms
from training.algorithms.learning_rates import LearningRates, RateChange
from training.errors import UsageError
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.schedule import make_schedule

GOLDEN = ROOT / "tests/docker/adapters/golden"


def rates(algorithm: str, world_size: int, **hyperparameters: Any) -> LearningRates:
    module = algorithms.load(algorithm)
    own = module.HYPERPARAMETERS.model_validate(hyperparameters)
    return module.learning_rates(own, world_size=world_size)


def golden_cases(algorithm: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((GOLDEN / f"{algorithm}.json").read_text())["cases"]
    return cases


REFERENCE_CASES = [
    (algorithm, case)
    for algorithm in ("tensorpack", "aws-samples")
    for case in golden_cases(algorithm)
]


@pytest.mark.parametrize(
    ("algorithm", "case"), REFERENCE_CASES, ids=[f"{a}: {c['name']}" for a, c in REFERENCE_CASES]
)
def test_the_course_is_what_the_real_program_computed(algorithm: str, case: dict[str, Any]) -> None:
    gpus = case["hosts"] * case["processes_per_host"]
    own = rates(algorithm, gpus, **case["hyperparameters"])
    outcome = case["outcome"]
    steps = outcome["steps_per_epoch"]
    # Gradients are summed over the GPUs, and the optimizer divides by 8.
    scale = 1 if outcome["averages_gradients"] else gpus / 8
    (_, first), *drops = outcome["rates"]
    assert own.changes[0] == RateChange(0, 0.0, pytest.approx(first * scale))
    assert own.changes[1:] == tuple(
        RateChange(int(epoch) * steps, epoch, pytest.approx(rate * scale)) for epoch, rate in drops
    )
    assert own.total_steps == outcome["max_epoch"] * steps
    assert own.warmup_steps == outcome["warmup"][-1][0]
    assert own.global_batch_size == gpus * outcome["configuration"].get(
        "TRAIN.BATCH_SIZE_PER_GPU", 1
    )


@pytest.mark.parametrize("case", golden_cases("tf2-smddp"), ids=lambda case: case["name"])
def test_tf2_smddp_falls_to_the_levels_of_the_real_program(case: dict[str, Any]) -> None:
    own = rates("tf2-smddp", case["hosts"] * case["processes_per_host"], **case["hyperparameters"])
    configuration = case["outcome"]["configuration"]
    assert [change.rate for change in own.changes] == pytest.approx(
        [configuration["init_learning_rate"], *case["outcome"]["rates"]]
    )
    # A boundary still has the rate before it.
    steps = [0, *(step + 1 for step in configuration["learning_rate_steps"])]
    assert [change.step for change in own.changes] == steps
    assert own.warmup_steps == case["outcome"]["warmup_steps"]
    assert own.total_steps == configuration["total_steps"]


def test_tf2_smddp_does_not_scale_its_rate() -> None:
    assert rates("tf2-smddp", 8).changes == rates("tf2-smddp", 64).changes
    assert rates("tf2-smddp", 64).global_batch_size == 256


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
@pytest.mark.parametrize("gpus", [3, 5, 6, 7, 12, 20])
def test_numbers_of_gpus_that_the_implementation_refuses(algorithm: str, gpus: int) -> None:
    with pytest.raises(UsageError, match=f"{gpus} GPUs: algorithm {algorithm} trains on 1, 2, 4"):
        rates(algorithm, gpus)


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
@pytest.mark.parametrize("gpus", [1, 2, 4, 8, 16, 24])
def test_numbers_of_gpus_that_it_takes(algorithm: str, gpus: int) -> None:
    assert rates(algorithm, gpus).total_steps


def test_an_epoch_without_a_step_is_refused() -> None:
    with pytest.raises(UsageError, match=r"images_per_epoch: 31: .* on 32 GPUs; give 32 or more"):
        rates("tensorpack", 32, images_per_epoch=31)
    with pytest.raises(UsageError, match=r"images_per_epoch: 100: .* 128 pictures"):
        rates("aws-samples", 32, images_per_epoch=100)


def test_a_schedule_that_ends_within_the_first_epoch_is_refused() -> None:
    with pytest.raises(UsageError, match=r"lr_schedule: \[100\]: it ends within the first epoch"):
        rates("tensorpack", 8, lr_schedule=[100])


def test_a_base_rate_that_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match=r"config:TRAIN\.BASE_LR: None: expected a number"):
        rates("tensorpack", 8, **{"config:TRAIN.BASE_LR": None})


def test_horovod_in_epochs_without_the_length_of_the_data() -> None:
    own = rates("horovod", 32)
    assert own.changes == (
        RateChange(0, 0.0, 0.16),
        RateChange(None, 16.0, pytest.approx(0.016)),
        RateChange(None, 20.0, pytest.approx(0.0016)),
    )
    assert own.total_steps is None
    assert own.global_batch_size == 128


def test_horovod_in_steps_needs_no_length_of_the_data() -> None:
    own = rates("horovod", 32, lr_schedule=[240000, 320000, 360000])
    assert [(change.step, change.epoch) for change in own.changes] == [
        (0, 0.0),
        (15000, None),
        (20000, None),
    ]
    assert own.total_steps == 22500


@given(
    gpus=st.integers(1, 64),
    batch=st.integers(1, 8),
    images=st.integers(1, 200_000),
    drops=st.lists(st.integers(1, 50), min_size=1, max_size=4, unique=True).map(sorted),
)
def test_horovod_with_the_length_of_the_data_has_the_trainers_own_course(
    gpus: int, batch: int, images: int, drops: list[int]
) -> None:
    schedule = [*((epoch, 0.1**n) for n, epoch in enumerate(drops[:-1], 1)), (drops[-1], None)]
    own = Hyperparameters(
        lr_epoch_schedule=schedule,  # type: ignore[arg-type]
        batch_size_per_gpu=batch,
        images_per_epoch=images,
        warmup_steps=0,
    )
    planned = algorithms.load("horovod").learning_rates(own, world_size=gpus)
    trained = make_schedule(own, world_size=gpus, images_per_epoch=images)
    assert planned.total_steps == trained.total_steps
    steps = [change.step for change in planned.changes if change.step is not None]
    for step in {step + offset for step in steps for offset in (-1, 0, 1) if step + offset >= 0}:
        holds = [c.rate for c in planned.changes if c.step is not None and c.step <= step][-1]
        assert trained.learning_rate_at(step) == pytest.approx(holds)


def test_it_is_json() -> None:
    document = rates("tensorpack", 32).to_json()
    assert json.loads(json.dumps(document))["changes"][1] == {
        "step": 60000,
        "epoch": 16.0,
        "rate": pytest.approx(0.004),
    }
