"""How fast the trainer trains, in pictures a second, against torchvision's reference training.

python -m bench.training_speed [--runs N] [--size PIXELS] [--set KEY=VALUE] [--format json]

The same model (R50-FPN, frozen batch norm, three stages trained), initial weights, pictures and
cores; each run is a process of its own, and the runs alternate. Ours is the whole trainer; the
reference is `reference_loop.py` and `reference_data.py`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from bench.timing import RunFailed, describe_here, output_of, python
from bench.training_run import Measured, Settings, Side
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed, UsageError

ROOT = Path(__file__).resolve().parent.parent
COCO = ROOT / "tests" / "data" / "coco"

app = new_app(__doc__ or "")


@dataclass(frozen=True)
class Variant:
    """One way to train."""

    label: str
    side: Side
    precision: str
    at_least: float | None = None
    """Times the speed of the reference in fp32; None where there is no target."""


REFERENCE = Variant("reference, fp32", "reference", "fp32")
VARIANTS = (
    REFERENCE,
    Variant("ours, fp32", "ours", "fp32", at_least=1.15),
    Variant("ours, bf16", "ours", "bf16", at_least=1.6),
    Variant("reference, bf16 autocast", "reference", "bf16"),
)
"""The last one for information: the reference's setting is fp32."""


@dataclass(frozen=True)
class Result:
    """All runs of one variant."""

    variant: Variant
    batch_size: int
    runs: tuple[Measured, ...]

    @property
    def images_per_second(self) -> float:
        """Of the median run."""
        return median(len(one.step_s) * self.batch_size / sum(one.step_s) for one in self.runs)

    @property
    def cpu_s_per_image(self) -> float:
        return median(one.cpu_s / len(one.step_s) / self.batch_size for one in self.runs)

    def to_json(self, reference: Result) -> dict[str, Any]:
        ratio = self.images_per_second / reference.images_per_second
        return {
            **asdict(self.variant),
            "images_per_second": round(self.images_per_second, 3),
            "ratio": round(ratio, 3),
            "passed": self.variant.at_least is None or ratio >= self.variant.at_least,
            "cpu_s_per_image": round(self.cpu_s_per_image, 3),
            "cpu_ratio": round(reference.cpu_s_per_image / self.cpu_s_per_image, 3),
            "first_loss": self.runs[0].loss,
            "memory_mib": round(max(one.memory_mib for one in self.runs)),
            "step_s": [[round(s, 3) for s in one.step_s] for one in self.runs],
        }


@app.command()
def main(  # noqa: PLR0917 (Typer reads the options from the signature)
    runs: Annotated[int, typer.Option(min=1, help="Runs of each variant.")] = 3,
    size: Annotated[int, typer.Option(min=64, help="Short side of the pictures, pixels.")] = 320,
    steps: Annotated[int, typer.Option(min=1, help="Timed steps of a run.")] = 11,
    batch_size: Annotated[int, typer.Option(min=1, help="Pictures of a step.")] = 2,
    data: Annotated[
        Path, typer.Option(help="A train channel; its train2017 is trained on.")
    ] = COCO,
    only: Annotated[
        str, typer.Option(help="Run only the variants whose name has this, and the reference.")
    ] = "",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE: a hyperparameter of ours, as JSON. Repeatable."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Measure; exit code 1 where a target is missed."""
    variants = [v for v in VARIANTS if v is REFERENCE or only in v.label]
    with tempfile.TemporaryDirectory() as scratch:
        template = Settings(
            side="reference",
            precision="fp32",
            data=str(data.resolve()),
            weights=str(write_weights(Path(scratch) / "weights.pt", data)),
            size=size,
            batch_size=batch_size,
            steps=steps,
            warmup=2,
            threads=_threads(),
            changes=_read_changes(changes or []),
        )
        try:
            results = measure(variants, template, runs=runs, progress=log.print)
        except RunFailed as error:
            raise JobFailed(str(error)) from error
    rows = [one.to_json(results[0]) for one in results]
    if output_format is Format.JSON:
        print_json({"machine": describe_here(), "settings": _shown(template), "variants": rows})
    else:
        result.print(_to_text(rows, template), markup=False)
    if not all(row["passed"] for row in rows):
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def measure(
    variants: list[Variant], template: Settings, *, runs: int, progress: Callable[[str], None]
) -> list[Result]:
    """Run all variants in turn, again and again.

    Raises:
        RunFailed: A run ended in an error.
    """
    measured: dict[str, list[Measured]] = {variant.label: [] for variant in variants}
    for number in range(1, runs + 1):
        for variant in variants:
            one = _run_once(variant, template)
            measured[variant.label].append(one)
            speed = len(one.step_s) * template.batch_size / sum(one.step_s)
            progress(f"run {number} of {runs}: {variant.label}: {speed:.2f} img/s")
    return [Result(v, template.batch_size, tuple(measured[v.label])) for v in variants]


def _run_once(variant: Variant, template: Settings) -> Measured:
    changes = template.changes if variant.side == "ours" else {}
    settings = {
        **asdict(template),
        "side": variant.side,
        "precision": variant.precision,
        "changes": changes,
    }
    path = Path(template.weights).with_name("settings.json")
    path.write_text(json.dumps(settings), encoding="utf-8")
    printed = output_of(
        python("-m", "bench.training_run", str(path)),
        label=variant.label,
        cwd=ROOT,
        variables={"OMP_NUM_THREADS": str(template.threads)},
    )
    return Measured(**json.loads(printed.splitlines()[-1]))


def write_weights(path: Path, data: Path) -> Path:
    """Write random weights of R50-FPN for the categories of a set."""
    import torch

    from bench.reference_model import calm
    from training.maskrcnn.hyperparameters import Hyperparameters
    from training.maskrcnn.model.maskrcnn import build_model

    (annotations,) = data.glob("annotations/instances_train2017.json")
    categories = json.loads(annotations.read_bytes())["categories"]
    torch.manual_seed(0)
    model = build_model(
        Hyperparameters(), categories=len(categories), sum_over_ranks=lambda tensor: tensor
    )
    torch.save({"model": calm(model.state_dict())}, path)
    return path


def _threads() -> int:
    given = os.environ.get("OMP_NUM_THREADS")
    return int(given) if given else len(os.sched_getaffinity(0))


def _read_changes(texts: list[str]) -> dict[str, Any]:
    changes = {}
    for text in texts:
        key, is_pair, value = text.partition("=")
        if not is_pair:
            raise UsageError(f"--set {text}: expected KEY=VALUE")
        try:
            changes[key] = json.loads(value)
        except ValueError:
            changes[key] = value
    return changes


def _shown(settings: Settings) -> dict[str, Any]:
    hidden = {"side", "precision", "weights", "data"}
    return {key: value for key, value in asdict(settings).items() if key not in hidden}


def _to_text(rows: Sequence[Mapping[str, Any]], settings: Settings) -> str:
    here = describe_here()
    lines = [
        f"{here['cores']} cores, {here['cpu']}, load {here['load_1m']}, "
        f"{settings.threads} threads; R50-FPN, short side {settings.size}, "
        f"batch {settings.batch_size}"
    ]
    for row in rows:
        target = "" if row["at_least"] is None else f" (target: at least {row['at_least']:g})"
        lines.append(
            f"  {row['label']:<26} {row['images_per_second']:6.2f} img/s  ratio {row['ratio']:.2f}"
            f"{target}{'' if row['passed'] else '  MISSED'}  processor {row['cpu_s_per_image']:.2f}"
            f" s a picture ({row['cpu_ratio']:.2f} times as fast)  {row['memory_mib']} MiB"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    run(app)
