"""torchvision's model of the same shape, trained by the reference's loop; evaluated as ours is.

python -m bench.accuracy_reference HYPERPARAMETERS.json TRAIN_CHANNEL prints the metrics as JSON.

The optimizer, its rates and the limit of the gradient are those of the hyperparameters, so that
what differs is all else: model code, losses, matching and sampling, masks, loading, loop.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from bench.reference_data import ReferencePictures, reference_batches
from bench.reference_loop import Optimization, ReferenceTraining
from bench.reference_model import reference_like
from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.evaluate import evaluate
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.model.maskrcnn import build_model
from training.maskrcnn.optimizer import build_optimizer
from training.maskrcnn.schedule import make_schedule


def train_and_evaluate(hyperparameters: Hyperparameters, channel: TrainChannel) -> dict[str, float]:
    """Train to the end of the schedule and return the metrics of the first validation split."""
    split = read_split(channel, hyperparameters.data_val[0])
    name = hyperparameters.data_train[0]
    pictures = ReferencePictures(channel.images(name), channel.annotations(name))
    torch.manual_seed(hyperparameters.seed)
    ours = build_model(
        hyperparameters, categories=len(split.categories), sum_over_ranks=lambda tensor: tensor
    )
    theirs = reference_like(hyperparameters, ours.state_dict(), outputs=len(split.categories) + 1)
    schedule = make_schedule(
        hyperparameters,
        world_size=1,
        images_per_epoch=hyperparameters.images_per_epoch or len(pictures),
    )
    optimizer = build_optimizer(theirs, hyperparameters)
    for group in optimizer.param_groups:
        group["lr"] = 1.0
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule.learning_rate_at)
    training = ReferenceTraining(
        theirs,
        Optimization(optimizer, rates),
        device=torch.device("cpu"),
        clip=hyperparameters.gradient_clip,
    )
    batches = reference_batches(pictures, schedule.global_batch_size)
    for step in range(schedule.total_steps):
        losses = training.take(next(batches))
        if step % 50 == 0:
            sys.stderr.write(f"step {step} of {schedule.total_steps}: {losses['loss']:.3f}\n")
    ours.load_state_dict(theirs.state_dict())
    evaluation = evaluate(
        TorchEngine(), ours, split, hyperparameters, is_stop_requested=lambda: False
    )
    assert evaluation is not None
    return dict(evaluation.metrics)


def main() -> None:
    path, root = sys.argv[1:]
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    metrics = train_and_evaluate(
        read_hyperparameters(values, source=path), TrainChannel(Path(root))
    )
    sys.stdout.write(json.dumps(metrics) + "\n")


if __name__ == "__main__":
    main()
