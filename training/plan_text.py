"""Shows a plan to people."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from training.platforms.api import Cost, Plan
from training.preflight.finding import Finding

_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


def show_plan(plan: Plan, findings: Sequence[Finding], console: Console) -> None:
    """Print what would be sent, what it costs and what the checks found."""
    console.print(
        f"[bold]{escape(plan.job_name)}[/]  {plan.algorithm} on {plan.platform}", markup=True
    )
    for key, value in plan.request.to_json().items():
        console.print(f"  [dim]{key}[/]: {escape(_text(value))}", markup=True)
    console.print(f"  [dim]cost[/]: {escape(cost_text(plan.cost))}", markup=True)
    for finding in findings:
        colour = _COLOURS[finding.severity]
        console.print(f"  [{colour}]{finding.severity}[/] {escape(finding.to_line())}", markup=True)


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


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return shlex.join(str(item) for item in value)
    return "none" if value is None else str(value)
