"""Where things lie in a channel: the same on S3, EFS, FSx and a local disk.

The trainer writes these files, the launcher, the report and `training.jobs` read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TRAIN_PATH = "mask-rcnn/sagemaker/input/train"
"""Default path of the `train` channel below the bucket or the file system's root."""

LOG_ROOT = "mask-rcnn/sagemaker/output"
"""Each job's `log` channel is a new folder below it: `<LOG_ROOT>/log-<timestamp>`."""

ANNOTATION_TABLES = ".annotation-tables"
"""Name of a folder of tables (training/maskrcnn/data/table_cache.py)."""

SHARD_INDEX = "index.json"
"""Name of a split's index of shards (training/data/pack/index.py)."""


@dataclass(frozen=True)
class TrainChannel:
    """A data set in COCO's layout; read only.

    A split is a name such as `train2017`: its pictures lie in a folder of that name, its
    annotations in `annotations/instances_<split>.json`. Its pictures may lie in shards instead:
    `shards/<split>`, as `python -m training.data pack` writes them.
    """

    root: Path

    def images(self, split: str) -> Path:
        return self.root / split

    def annotations(self, split: str) -> Path:
        return self.root / "annotations" / f"instances_{split}.json"

    def shards(self, split: str) -> Path:
        """Where the same pictures may lie in shards; they are read rather than loose files."""
        return self.root / "shards" / split

    def is_packed(self, split: str) -> bool:
        """Return whether the split has whole shards: their index is written last."""
        return (self.shards(split) / SHARD_INDEX).is_file()

    @property
    def annotation_tables(self) -> Path:
        """What was made of the annotations for quick reading; of this host, never staged."""
        return self.root / ANNOTATION_TABLES

    @property
    def pretrained_models(self) -> Path:
        return self.root / "pretrained-models"

    def weight_candidates(self, name: str) -> tuple[Path, Path]:
        """Return where a file of weights is looked for: a name in the channel, or a path."""
        return self.pretrained_models / name, Path(name)


@dataclass(frozen=True)
class LogChannel:
    """What one job leaves behind."""

    root: Path

    @property
    def job(self) -> Path:
        """The resolved job: spec, command, channels, world size (JSON)."""
        return self.root / "job.json"

    @property
    def hyperparameters(self) -> Path:
        """The hyperparameters that the trainer reads (JSON)."""
        return self.root / "hyperparameters.json"

    @property
    def metrics(self) -> Path:
        """One JSON object a line.

        `kind` ("train" or "evaluation"), `step` (int, steps done), `epoch` (float, epochs done),
        `time_s` (seconds since 1970) and `values`, a map of metric name to number.
        """
        return self.root / "metrics.jsonl"

    @property
    def events(self) -> Path:
        """TensorBoard's event files."""
        return self.root / "events"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def model(self) -> Path:
        """The trained weights with what is needed to build the model again."""
        return self.root / "model.pt"

    @property
    def best_model(self) -> Path:
        """The same of the weights that had the largest mAP in an evaluation."""
        return self.root / "model-best.pt"

    @property
    def predictions(self) -> Path:
        """The last evaluation's detections.

        A JSON object: `split`, `step`, `images`, the ids of the pictures that it is about, and
        `detections`, a list in COCO's result format with RLE masks.
        """
        return self.root / "predictions.json"

    @property
    def evaluation(self) -> Path:
        """The last evaluation of the whole first split, by category and picture.

        A JSON object. `version` (1), `split` and `step`. `categories`: `id`, `name`, `objects` and
        `ap`, by kind (bbox, segm) and IoU. `curves`, by kind and IoU, of each category: precision
        at recall 0, 0.01, ..., 1. `matching`: the `kind`, `min_score` and `min_iou` of what
        follows. `confusion`: true category id, predicted one, count; null: nothing there, or
        missed. `pictures`: `ids`, and of each how many objects are `right` and `missed`, how many
        detections `wrong`, and its `f1`, null without objects. `best` and `worst`: image ids.
        """
        return self.root / "evaluation.json"

    @property
    def outcome(self) -> Path:
        """How the trainer ended (JSON): `status` completed|checkpointed|failed, `step`, `message`.

        For a trainer that writes none, the containers' entry point does: `stopped` may be, too.

        Written by rank 0 when all ranks agree, by a failing rank otherwise. Absent while the
        trainer runs, and where it was killed.
        """
        return self.root / "outcome.json"

    @property
    def trainer_lock(self) -> Path:
        """Locked by the trainer while it runs; empty, and stays."""
        return self.root / ".trainer.lock"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def launcher(self) -> Path:
        """What the program that starts the ranks said itself."""
        return self.root / "launcher.log"

    def rank(self, rank: int) -> Path:
        """Everything that one rank printed."""
        return self.root / f"rank-{rank}.log"

    def rank_batch(self, rank: int) -> Path:
        """The pictures and weights of a step whose loss or gradient was not finite (torch.save).

        `python -m training.maskrcnn.replay` takes the step again. Written by each rank that may
        have caused it, once, before the job fails.
        """
        return self.root / f"broken-batch-rank-{rank}.pt"
