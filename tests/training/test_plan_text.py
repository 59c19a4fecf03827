"""A plan as people read it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from tests.training.platforms.sagemaker.planning import plan
from training.algorithms.learning_rates import LearningRates, RateChange
from training.plan_summary import cost_text
from training.plan_text import learning_rate_lines, show_plan
from training.platforms.api import Cost, StepBefore
from training.preflight.finding import Finding


def shown(suppressed: Sequence[str] = (), **overrides: Any) -> str:
    stream = io.StringIO()
    # As training.cli has it.
    console = Console(
        file=stream, width=80, soft_wrap=True, markup=False, highlight=False, emoji=False
    )
    finding = Finding("some-code", "warning", "take [care]", "a.b")
    show_plan(plan(**overrides), [finding, finding], console, suppressed=suppressed)
    return stream.getvalue()


def test_everything_that_would_be_sent_is_shown_on_lines_of_its_own() -> None:
    text = shown(data_source="efs", name="job-1", algorithm="tensorpack")
    lines = text.splitlines()
    assert lines[0] == "job-1  tensorpack on sagemaker"
    assert lines.index("  before:") < lines.index("  request:") < lines.index("  learning rate:")
    for line in (
        "    TrainingJobName: job-1",
        "      lr_schedule: [240000, 320000, 360000]",
        "    - ChannelName: log",
        "          DirectoryPath: /mask-rcnn/sagemaker/output/log-job-1",
        "    - Key: Project, Value: mask-rcnn",
        "          60,000        16         0.004",
    ):
        assert line in lines
    assert lines[-1] == "  warning some-code: take [care] (a.b)"
    # No mapping of Python's spelling.
    assert "{" not in text


@pytest.mark.parametrize(
    ("overrides", "lines"),
    [
        (
            {"data_source": "efs", "instances__type": "p4d.24xlarge", "instances__count": 4},
            [
                "  where: account 123456789012, us-west-2",
                "  machines: 4 x ml.p4d.24xlarge = 32 GPUs",
                "  data: EFS fs-0123456789abcdef0, /mask-rcnn/sagemaker/input/train",
            ],
        ),
        (
            {"data_source": "fsx"},
            ["  data: FSx for Lustre fs-0123456789abcdef9, /abcdefgh/data/mask-rcnn/sagemaker/"],
        ),
        (
            {"data_source": "s3", "instances__type": "local", "instances__count": 2},
            [
                "  where: this machine: SageMaker is not asked for anything",
                "  machines: 2 container(s)",
                "  data: s3://bucket/mask-rcnn/sagemaker/input/train/",
                "  cost: 0.00 USD an hour, at most 0.00 USD",
                "    this machine: AWS starts no instance",
                "  request (not sent: containers here do what it says, without VPC",
            ],
        ),
    ],
)
def test_what_decides_is_at_the_top(overrides: dict[str, Any], lines: list[str]) -> None:
    text = shown(**overrides).splitlines()
    at = [next(n for n, line in enumerate(text) if line.startswith(part)) for part in lines]
    assert at == sorted(at)
    first_of_request = next(n for n, line in enumerate(text) if line.startswith("  request"))
    assert text.index("  findings: 2 warnings") < first_of_request


def test_what_the_schedule_costs_is_told_with_the_price_and_not_among_the_findings() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, soft_wrap=True, highlight=False)
    estimate = Finding("schedule-estimate", "info", "take about 1 h", "cost")
    old = Finding("price-old", "warning", "fetch today's", "cost")
    show_plan(plan(data_source="s3"), [estimate, old], console)
    lines = stream.getvalue().splitlines()
    at = lines.index("    take about 1 h")
    assert lines[at + 1] == "  findings: 1 warning"
    assert [line for line in lines if "schedule-estimate" in line] == []
    assert lines[-1] == "  warning price-old: fetch today's (cost)"


def test_an_assumption_of_the_cost_has_a_line_of_its_own() -> None:
    stream = io.StringIO()
    cost = Cost(per_hour=2.0, maximum=None, assumptions=("4 [of] them", "left out: taxes"))
    console = Console(file=stream, width=80, soft_wrap=True, markup=False, highlight=False)
    show_plan(replace(plan(), cost=cost), [], console)
    lines = stream.getvalue().splitlines()
    at = lines.index("  cost: 2.00 USD an hour; the maximum is unknown")
    assert lines[at + 1 : at + 4] == ["    4 [of] them", "    left out: taxes", "  findings: none"]


def test_metrics_are_counted_and_their_expressions_left_to_json() -> None:
    text = shown(algorithm="tensorpack", data_source="efs")
    [line] = [line.strip() for line in text.splitlines() if "MetricDefinitions" in line]
    assert line == "MetricDefinitions: 22 (--format json has them)"
    assert "Regex" not in text


def test_what_was_suppressed_is_said() -> None:
    assert shown(["a-b", "c-d"]).splitlines()[-1] == "  suppressed: a-b, c-d"
    assert "suppressed" not in shown()


def test_a_request_before_the_job_is_shown_whole() -> None:
    text = shown(data_source="efs", name="job-1")
    assert "      TrainingJobName: job-1-folders-20260102030405" in text.splitlines()


def test_hostile_values_are_shown_as_they_are_but_for_what_moves_the_cursor() -> None:
    text = shown(hyperparameters__load_model="[bold]$(x)[/] :smile: \x1b[31m")
    assert '"[bold]$(x)[/] :smile: \\u001b[31m"' in text
    assert "\x1b" not in text


def test_what_the_length_of_the_data_decides_is_a_dash() -> None:
    rates = LearningRates(
        definition="as it is",
        global_batch_size=128,
        warmup_steps=1000,
        total_steps=None,
        changes=(RateChange(0, 0, 0.16), RateChange(None, 16, 0.016), RateChange(5, None, 1e-5)),
    )
    assert list(learning_rate_lines(rates)) == [
        "as it is",
        "128 pictures in a step, 1,000 steps of warm-up",
        "   from step     epoch          rate",
        "           0         0          0.16",
        "           -        16         0.016",
        "           5         -         1e-05",
    ]


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (Cost(per_hour=None, maximum=None, assumptions=("no price",)), "unknown"),
        (
            Cost(per_hour=1.5, maximum=None, assumptions=()),
            "1.50 USD an hour; the maximum is unknown",
        ),
        (
            Cost(per_hour=1234.5, maximum=11222.67, assumptions=()),
            "1,234.50 USD an hour, at most 11,222.67 USD",
        ),
    ],
)
def test_a_price_that_is_not_known_is_never_shown_as_a_number(cost: Cost, text: str) -> None:
    assert cost_text(cost) == text


def test_a_step_without_a_request_is_its_words() -> None:
    from training.plan_text import step_lines

    assert list(step_lines(StepBefore(what="make a folder"))) == ["make a folder"]
