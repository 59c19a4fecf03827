"""Steps of a toy model: its losses are plain functions of one weight and the pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from training.errors import JobFailed
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.engines.engine import BegunSum
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.model.losses import LOSSES, NAMES, Ratio, TellCounts
from training.maskrcnn.optimizer import build_optimizer
from training.maskrcnn.step import Stepper
from training.maskrcnn.step_numbers import Totals


class Toy(nn.Module):
    """The losses are `weight * value` for each picture, the first of them divided by pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((2, 2), 3.0))
        self.bias = nn.Parameter(torch.zeros(2))

    def forward(
        self, pixels: Tensor, sizes: Any, targets: Any, tell_counts: TellCounts
    ) -> dict[str, Ratio]:
        values = pixels.float().sum() * self.weight.mean() + self.bias.sum()
        zero = values * 0
        counts: dict[str, Any] = dict.fromkeys(NAMES, 1.0)
        counts[LOSSES[0]] = float(len(pixels))
        counts["maskrcnn_loss/pos_accuracy"] = torch.tensor(2)
        tell_counts({name: counts[name] for name in LOSSES})
        sums = {**dict.fromkeys(NAMES, zero), LOSSES[0]: values}
        return {name: Ratio(sums[name], counts[name]) for name in NAMES}


def batch(*values: float, name: str = "one", broken: tuple[str, ...] = ()) -> Batch:
    return Batch(
        pixels=torch.tensor(values).reshape(-1, 1, 1, 1),
        sizes=((1, 1),) * len(values),
        targets=(),
        names=(name,),
        broken=broken,
    )


@pytest.fixture
def make(tiny: Any) -> Any:
    def build(*, broken_batch: Path | None = None, reads_late: bool = False, **changes: Any) -> Any:
        torch.manual_seed(0)
        model = Toy()
        given = {"momentum": 0.5, "weight_decay": 0, **changes}
        hyperparameters = tiny(**given)
        stepper = Stepper(
            TorchEngine(),
            model,
            build_optimizer(model, hyperparameters),
            hyperparameters,
            broken_batch=broken_batch,
            reads_late=reads_late,
        )
        return stepper, model

    return build


def take(stepper: Stepper, *batches: Batch, stop: bool = False) -> list[Totals]:
    return stepper.take(batches, learning_rate=0.25, is_stop_requested=stop)


def test_a_step_of_several_batches_takes_the_mean_of_their_gradients(make: Any) -> None:
    stepper, model = make(accumulation_steps=2)
    [totals] = take(stepper, batch(1, 2, 3), batch(5))
    # Each batch's values divided by its own pictures: (6 / 3 + 5 / 1) / 2, over four weights.
    torch.testing.assert_close(model.weight, torch.full((2, 2), 3 - 0.25 * 3.5 / 4))
    assert totals.sums[LOSSES[0]] == 3 * 6 + 3 * 5
    assert totals.counts[LOSSES[0]] == 4


def test_several_batches_of_one_size_are_one_large_batch(make: Any) -> None:
    several, accumulating = make(accumulation_steps=2)
    one, whole = make()
    for _ in range(3):
        take(several, batch(1, 2), batch(5, 7))
        take(one, batch(1, 2, 5, 7))
    torch.testing.assert_close(accumulating.weight, whole.weight)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("reads_late", [False, True])
def test_no_step_changes_weights_after_a_loss_that_is_not_finite(
    make: Any, tmp_path: Path, precision: str, reads_late: bool
) -> None:
    stepper, model = make(
        precision=precision, reads_late=reads_late, broken_batch=tmp_path / "b.pt", ema_decay=0.5
    )
    take(stepper, batch(1))
    before = model.weight.clone()
    momentum = stepper._optimizer.state[model.weight]["momentum_buffer"].clone()
    with pytest.raises(JobFailed) as failed:
        take(stepper, batch(float("nan"), name="7 (train2017/bad.jpg)"))
        assert reads_late, "a CPU tells at once"
        take(stepper, batch(1, name="8 (train2017/good.jpg)"))
    message = str(failed.value)
    assert f"rank 0: {', '.join(LOSSES)} is not finite for images 7 (train2017/bad.jpg)" in message
    assert "good.jpg" not in message
    assert "python -m training.maskrcnn.replay" in message
    assert (tmp_path / "b.pt").exists()
    assert torch.equal(model.weight, before)
    assert torch.equal(stepper._optimizer.state[model.weight]["momentum_buffer"], momentum)


def test_a_gradient_that_is_not_finite_leaves_the_weights_and_names_the_pictures(
    make: Any,
) -> None:
    stepper, model = make()
    model.weight.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(JobFailed, match=r"the gradient is not finite \(norm inf\).* 7 \(a\.jpg\)"):
        take(stepper, batch(1, name="7 (a.jpg)"))
    assert torch.equal(model.weight, torch.full((2, 2), 3.0))


@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "lars"])
def test_fp16_leaves_out_a_step_that_overflows_and_goes_on_with_a_smaller_scale(
    make: Any, optimizer: str
) -> None:
    """Also in the very first step, in which momentum has no value yet."""
    stepper, model = make(precision="fp16", optimizer=optimizer)
    scale = stepper._scaler.get_scale()
    overflow = model.weight.register_hook(lambda gradient: gradient * float("inf"))
    take(stepper, batch(1))
    assert torch.equal(model.weight, torch.full((2, 2), 3.0))
    assert stepper._scaler.get_scale() == scale / 2
    overflow.remove()
    take(stepper, batch(1))
    exact, reference = make(optimizer=optimizer)
    take(exact, batch(1))
    torch.testing.assert_close(model.weight, reference.weight, rtol=1e-3, atol=0)
    assert not torch.equal(model.weight, torch.full((2, 2), 3.0))


class HostReads(TorchDispatchMode):
    """Counts values that the host asks of a tensor: on a GPU each waits for all that is queued."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func.overloadpacket is torch.ops.aten._local_scalar_dense
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"precision": "fp16", "gradient_clip": 1.0, "ema_decay": 0.9},
        {"precision": "bf16", "optimizer": "lars", "accumulation_steps": 2},
    ],
)
def test_a_step_asks_nothing_of_the_device(make: Any, changes: Any) -> None:
    stepper, _ = make(reads_late=True, **changes)
    batches = [batch(1)] * changes.get("accumulation_steps", 1)
    take(stepper, *batches)
    with HostReads() as reads:
        stepper._reads_late = True
        stepper._taken.clear()
        take(stepper, *batches)
        assert reads.count == 0
        float(torch.ones(1))
    assert reads.count == 1, "the count itself works"


def test_the_other_ranks_are_waited_for_before_the_losses_only_for_their_counts(make: Any) -> None:
    stepper, model = make()
    events: list[str] = []
    begin_sum = stepper._engine.begin_sum

    def noted(tensor: Tensor, name: str) -> BegunSum:
        events.append(f"begin {name}")
        finish = begin_sum(tensor, name)

        def note() -> Tensor:
            events.append(f"wait for {name}")
            # As if there were a second rank with three times the counts and sums.
            return finish() * 4

        return note

    stepper._engine.begin_sum = noted
    model.weight.register_hook(lambda _: events.append("gradient"))
    [totals] = take(stepper, batch(1, 2))
    assert events == [
        "begin counts of losses",
        "begin numbers of a step",
        "wait for counts of losses",
        "gradient",
        "wait for numbers of a step",
    ]
    # (1 + 2) / 8 pictures for each of four weights.
    torch.testing.assert_close(model.weight.grad, torch.full((2, 2), 3 / 8 / 4))
    assert totals.counts[LOSSES[0]] == 8


def test_totals_come_late_in_order_and_with_the_batches_of_their_step(make: Any) -> None:
    stepper, _ = make(reads_late=True, base_learning_rate=0.1)
    assert take(stepper, batch(1, broken=("1: cut off",)), stop=True) == []
    [first] = take(stepper, batch(2))
    assert (first.is_stop_requested, first.broken_pictures) == (True, 1)
    assert first.own_broken == ("1: cut off",)
    assert first.sums[LOSSES[0]] == 3
    [second] = stepper.finish()
    assert (second.is_stop_requested, second.own_broken) == (False, ())
    assert stepper.finish() == []


def test_the_average_is_swapped_in_and_out_and_is_part_of_the_state(make: Any) -> None:
    stepper, model = make(ema_decay=0.9)
    weights = [model.weight.detach().clone()]
    for value in (1, 2, 3):
        take(stepper, batch(value))
        weights.append(model.weight.detach().clone())
    expected = weights[0]
    # The decay grows: 1/10, 2/11, 3/12.
    for step, weight in enumerate(weights[1:]):
        decay = (1 + step) / (10 + step)
        expected = decay * expected + (1 - decay) * weight
    with swapped(stepper, model) as averaged:
        torch.testing.assert_close(averaged, expected)
    assert torch.equal(model.weight, weights[-1])

    resumed, other = make(ema_decay=0.9)
    other.load_state_dict(model.state_dict())
    # A copy, as a file makes it: the optimizer would share its momentum.
    resumed.load_state_dict(deepcopy(stepper.state_dict()))
    for one in (stepper, resumed):
        take(one, batch(4))
    with swapped(stepper, model) as averaged, swapped(resumed, other) as others:
        assert torch.equal(averaged, others)


def test_a_run_goes_on_with_its_momentum_and_the_weight_decay_of_now(make: Any) -> None:
    before, model = make(weight_decay=0)
    take(before, batch(1))
    begun = model.weight.detach().clone()
    after, other = make(weight_decay=0.5)
    other.load_state_dict(model.state_dict())
    after.load_state_dict(deepcopy(before.state_dict()))
    take(before, batch(1))
    take(after, batch(1))
    # Rate 0.25: the decay takes a quarter of a half of the weight, the rest is the same.
    torch.testing.assert_close(other.weight, model.weight - 0.25 * 0.5 * begun)


@contextmanager
def swapped(stepper: Stepper, model: Toy) -> Iterator[Tensor]:
    with stepper.averaged():
        yield model.weight.detach().clone()


def test_an_average_that_is_new_begins_with_the_weights_that_are_loaded(make: Any) -> None:
    before, model = make()
    take(before, batch(1))
    resumed, other = make(ema_decay=0.9)
    other.load_state_dict(model.state_dict())
    resumed.load_state_dict(before.state_dict())
    with swapped(resumed, other) as averaged:
        assert torch.equal(averaged, model.weight)
