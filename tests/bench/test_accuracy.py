from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.accuracy import SAMPLE_JOB, SHAPES_JOB, Accuracy, find_problems, measure, one_rank
from training.maskrcnn.hyperparameters import Hyperparameters


@pytest.mark.parametrize("job", [SHAPES_JOB, SAMPLE_JOB])
def test_one_rank_has_the_jobs_global_batch(job: Path) -> None:
    settings = one_rank(job, seed=3, share=0.5)
    checked = Hyperparameters.model_validate(settings)
    assert checked.seed == 3
    assert checked.batch_size_per_gpu == {SHAPES_JOB: 8, SAMPLE_JOB: 4}[job]
    assert checked.images_per_epoch == {SHAPES_JOB: 500, SAMPLE_JOB: 50}[job]


@pytest.mark.parametrize(
    ("ours", "is_worse"),
    [((0.60, 0.62, 0.64), False), ((0.58, 0.60, 0.62), False), ((0.50, 0.51, 0.52), True)],
)
def test_a_mean_below_the_references_by_more_than_chance_is_a_problem(
    ours: tuple[float, ...], is_worse: bool
) -> None:
    reference = Accuracy("reference, fp32", (0.60, 0.62, 0.64))
    problems = find_problems([Accuracy("ours, bf16", ours), reference])
    assert bool(problems) is is_worse


def test_the_sample_has_a_target_of_its_own() -> None:
    assert find_problems([Accuracy("sample", (0.61,))]) == []
    assert "0.590" in find_problems([Accuracy("sample", (0.59,))])[0]


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_ours_is_as_accurate_as_the_reference_and_learns_the_sample(tmp_path: Path) -> None:
    accuracies = list(measure(tmp_path, seeds=3, only="", share=1))
    assert find_problems(accuracies) == []
    found: dict[str, Any] = {one.label: one for one in accuracies}
    assert found["ours, fp32"].mean > 0.6
    assert found["ours, bf16"].is_no_worse_than(found["ours, fp32"])
