"""Shows a plan to people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from training.plan_summary import is_on_this_machine, summary
from training.platforms.api import Plan, StepBefore
from training.preflight.finding import Finding
from training.preflight.in_short import lines_of
from training.request_text import INDENT, to_lines

if TYPE_CHECKING:
    from training.algorithms.learning_rates import LearningRates

_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


def show_plan(
    plan: Plan, findings: Sequence[Finding], console: Console, *, suppressed: Sequence[str] = ()
) -> None:
    """Print what decides, then what would be done and sent, and what the checks found.

    Args:
        suppressed: Codes of findings that the user has left out.
    """
    console.print(
        f"[bold]{escape(plan.job_name)}[/]  {plan.algorithm} on {plan.platform}", markup=True
    )
    of_cost = [each for each in findings if (each.severity, each.path) == ("info", "cost")]
    others = [each for each in findings if each not in of_cost]
    for title, text in summary(plan, others):
        console.print(f"  [dim]{title}[/]: {escape(text)}", markup=True)
        if title == "cost":
            for assumption in plan.cost.assumptions:
                console.print(f"    {assumption}")
            for each in of_cost:
                console.print(f"    {each.message}")
    for step in plan.before:
        _show(console, "before", step_lines(step))
    request = plan.request.to_json()
    _show(console, _request_title(request), to_lines(_for_people(request)))
    if plan.learning_rates is not None:
        _show(console, "learning rate", learning_rate_lines(plan.learning_rates))
    for line in lines_of(others):
        severity, _, text = line.partition(": ")
        console.print(f"  [{_COLOURS[severity]}]{severity}[/] {escape(text)}", markup=True)
    if suppressed:
        console.print(f"  [dim]suppressed[/]: {', '.join(suppressed)}", markup=True)


def _request_title(request: Mapping[str, Any]) -> str:
    if is_on_this_machine(request):
        return "request (not sent: containers here do what it says, without VPC, role and keys)"
    return "request"


def _for_people(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request without what people want to know least, or cannot read."""
    return _with_manifest_counted(_with_base64_counted(_with_metrics_counted(request)))


def _with_manifest_counted(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a release without its objects, which follow from its values."""
    if "manifest" not in request:
        return request
    lines = request["manifest"].splitlines()
    kinds = [line.removeprefix("kind: ") for line in lines if line.startswith("kind: ")]
    count = f"{', '.join(kinds)}; {len(lines):,} lines (--format json has them)"
    return {**request, "manifest": count}


def _with_metrics_counted(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request without the metrics' regular expressions."""
    algorithm = request.get("AlgorithmSpecification", {})
    if "MetricDefinitions" not in algorithm:
        return request
    count = f"{len(algorithm['MetricDefinitions'])} (--format json has them)"
    return {**request, "AlgorithmSpecification": {**algorithm, "MetricDefinitions": count}}


def _with_base64_counted(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request to a cluster without what is shown decoded, under `runs`."""
    if "SendCommand" in request:
        body = request["SendCommand"]
        parameters = {**body["Parameters"], "Request": _count(body["Parameters"]["Request"][0])}
        return {**request, "SendCommand": {**body, "Parameters": parameters}}
    if "ssh" in request:
        return {**request, "ssh": {**request["ssh"], "stdin": _count(request["ssh"]["stdin"])}}
    return request


def _count(base64: str) -> str:
    return f"{len(base64):,} characters of base64: the request below (--format json has them)"


def _show(console: Console, title: str, lines: Iterator[str]) -> None:
    console.print(f"  [dim]{title}[/]:", markup=True)
    # At once: a request has a hundred lines, and each print costs as much as all of them.
    if text := "\n".join(f"    {line}" for line in lines):
        console.print(text)


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
