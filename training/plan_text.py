"""Shows a plan to people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from training.platforms.api import Cost, Plan, StepBefore
from training.preflight.finding import Finding
from training.preflight.in_short import lines_of
from training.request_text import INDENT, to_lines

if TYPE_CHECKING:
    from training.algorithms.learning_rates import LearningRates

_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


def show_plan(plan: Plan, findings: Sequence[Finding], console: Console) -> None:
    """Print what would be done and sent, what it costs and what the checks found."""
    console.print(
        f"[bold]{escape(plan.job_name)}[/]  {plan.algorithm} on {plan.platform}", markup=True
    )
    for step in plan.before:
        _show(console, "before", step_lines(step))
    _show(console, "request", to_lines(plan.request.to_json()))
    if plan.learning_rates is not None:
        _show(console, "learning rate", learning_rate_lines(plan.learning_rates))
    console.print(f"  [dim]cost[/]: {escape(cost_text(plan.cost))}", markup=True)
    for line in lines_of(findings):
        severity, _, text = line.partition(": ")
        console.print(f"  [{_COLOURS[severity]}]{severity}[/] {escape(text)}", markup=True)


def _show(console: Console, title: str, lines: Iterator[str]) -> None:
    console.print(f"  [dim]{title}[/]:", markup=True)
    for line in lines:
        console.print(f"    {line}")


def step_lines(step: StepBefore) -> Iterator[str]:
    """Yield what is done before the request is sent, with what is sent for it."""
    yield step.what
    if step.request is not None:
        for line in to_lines(step.request):
            yield INDENT + line


def learning_rate_lines(rates: LearningRates) -> Iterator[str]:
    """Yield the definition, and a table of when which rate holds.

    A step or epoch that the plan cannot know, since the length of the data decides, is a dash.
    """
    yield rates.definition
    steps = "" if rates.total_steps is None else f", {rates.total_steps:,} steps in all"
    pictures = f"{rates.global_batch_size} pictures in a step"
    yield f"{pictures}, {rates.warmup_steps:,} steps of warm-up{steps}"
    yield f"{'from step':>12}{'epoch':>10}{'rate':>14}"
    for change in rates.changes:
        step = "-" if change.step is None else f"{change.step:,}"
        epoch = "-" if change.epoch is None else f"{change.epoch:g}"
        yield f"{step:>12}{epoch:>10}{change.rate:>14.6g}"


def cost_text(cost: Cost) -> str:
    """Return a price in words; a price that is not known is never shown as 0."""
    if cost.per_hour is None or cost.maximum is None:
        text = "unknown"
    else:
        text = (
            f"{cost.per_hour:.2f} {cost.currency} an hour, "
            f"at most {cost.maximum:.2f} {cost.currency}"
        )
    return f"{text} ({'; '.join(cost.assumptions)})" if cost.assumptions else text
