from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.gpu.correctness import Correctness
from bench.gpu.plan import Bench, Row
from bench.gpu.report import write_report
from bench.gpu.settings import DEFAULTS, default_values
from bench.gpu.speed import Speed

ROOT = Path(__file__).parents[2]
LACKING = ("pydantic", "pycocotools", "hotcoco", "horovod", "typer", "rich", "yaml", "psutil")
"""What a machine with torch, torchvision and numpy alone does not have."""


def run_script(folder: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    """Run the script where only torch, torchvision and numpy can be imported."""
    hidden = folder / "hidden"
    hidden.mkdir()
    for name in LACKING:
        (hidden / f"{name}.py").write_text(f"raise ImportError('{name} is not here')")
    out = folder / "gpu.json"
    done = subprocess.run(
        [ROOT / "bench" / "gpu.sh", "--tiny", "--out", out, *options],
        env={
            **os.environ,
            "PYTHON": str(ROOT / ".venv" / "bin" / "python"),
            "PYTHONPATH": str(hidden),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done, json.loads(out.read_text(encoding="utf-8"))


def test_the_settings_are_the_trainers_defaults() -> None:
    """`python -m bench.gpu.settings` writes them anew."""
    assert json.loads(DEFAULTS.read_text(encoding="utf-8")) == default_values()


@pytest.mark.slow
def test_all_parts_run_with_torch_torchvision_and_numpy_alone(tmp_path: Path) -> None:
    done, found = run_script(tmp_path)
    assert done.returncode == 0, done.stderr
    assert found["correctness"]["passed"]
    assert found["correctness"]["loss"] <= 1e-4
    labels = [(row["label"], row["batch_size"]) for row in found["speed"]]
    assert labels == [("reference", 1), ("bf16", 1), ("bf16, compiled", 1)]
    assert all(row["images_per_second"] > 0 and row["memory_mib"] > 0 for row in found["speed"])
    assert set(found["profiles"]) == {"bf16, batch 1", "reference, batch 1"}
    for profile in found["profiles"].values():
        assert profile["step_ms"] > 0
        assert len(profile["kernels"]) > 5
    assert found["left_out"] == []
    assert "img/s" in done.stdout


@pytest.mark.soak  # what it leaves out is tested below
def test_a_spent_budget_ends_it_with_what_there_is(tmp_path: Path) -> None:
    done, found = run_script(tmp_path, "--budget-s", "1")
    assert done.returncode == 1
    assert found["left_out"] == ["stopped: the budget was spent"]
    assert found["goals"]["passed"] is False


@pytest.mark.parametrize(
    ("ours", "reference", "ratio", "reached"),
    [(130.0, 50.0, 2.6, True), (130.0, 60.0, 2.17, False), (119.0, 40.0, 2.98, False)],
)
def test_goals_compare_the_best_batch_of_each(
    tmp_path: Path, ours: float, reference: float, ratio: float, reached: bool
) -> None:
    bench = Bench(is_tiny=True, budget_s=1, wanted=None)
    for label, batch, speed in [
        ("reference", 2, reference),
        ("reference", 4, reference / 2),
        ("bf16", 4, ours / 2),
        ("bf16, compiled", 4, ours),
    ]:
        found = Speed(images_per_second=speed, step_ms=1, memory_mib=1, warmup_s=1)
        bench.rows.append(Row(label, batch, found))
    bench.rows.append(Row("bf16", 16, Speed(failure="out of memory")))
    bench.correctness = Correctness(1e-7, 1e-6, 1e-3, 0.01)
    report = write_report(bench, tmp_path / "gpu.json")
    goals = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))["goals"]
    assert (goals["images_per_second"], goals["ratio"]) == (ours, ratio)
    assert (report.is_right, report.reached_goals) == (True, reached)
    assert "out of memory" in report.text


def test_a_wrong_step_is_told(tmp_path: Path) -> None:
    bench = Bench(is_tiny=True, budget_s=1, wanted=None)
    bench.correctness = Correctness(1e-2, 1e-6, 1e-3, 0.01)
    report = write_report(bench, tmp_path / "gpu.json")
    assert not report.is_right
    assert "WRONG" in report.text
