"""A plan as people read it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from tests.training.platforms.sagemaker.planning import plan
from training.algorithms.learning_rates import LearningRates, RateChange
from training.plan_text import cost_text, learning_rate_lines, show_plan
from training.platforms.api import Cost, StepBefore
from training.preflight.finding import Finding


def shown(**overrides: Any) -> str:
    stream = io.StringIO()
    # As training.cli has it.
    console = Console(
        file=stream, width=80, soft_wrap=True, markup=False, highlight=False, emoji=False
    )
    finding = Finding("some-code", "warning", "take [care]", "a.b")
    show_plan(plan(**overrides), [finding], console)
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
        (Cost(per_hour=None, maximum=None, assumptions=("no price",)), "unknown (no price)"),
        (Cost(per_hour=1.5, maximum=None, assumptions=()), "unknown"),
        (
            Cost(per_hour=1.5, maximum=166.67, assumptions=()),
            "1.50 USD an hour, at most 166.67 USD",
        ),
    ],
)
def test_a_price_that_is_not_known_is_never_shown_as_a_number(cost: Cost, text: str) -> None:
    assert cost_text(cost) == text


def test_a_step_without_a_request_is_its_words() -> None:
    from training.plan_text import step_lines

    assert list(step_lines(StepBefore(what="make a folder"))) == ["make a folder"]
