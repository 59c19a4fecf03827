"""`bench/gpu.sh`: see its --help. Prints text; writes JSON."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from bench.gpu.settings import stand_in

if TYPE_CHECKING:
    from bench.gpu.plan import Bench

BUDGET_S = 225
"""The whole is to take less than four minutes."""


GRACE_S = 8
"""After so many seconds more it ends even where the main thread waits for the GPU."""


class BudgetSpent(BaseException):
    """The time is over. Like Ctrl-C, it passes through whoever catches all exceptions."""


def main() -> int:
    """Run all parts within the budget; return the exit code."""
    options = _parse()
    stand_in()
    # Only now: they import the model, which names the trainer's hyperparameters.
    from bench.gpu.plan import Bench
    from bench.gpu.report import write_report

    bench = Bench(is_tiny=options.tiny, budget_s=options.budget_s, wanted=options.batch)
    signal.signal(signal.SIGALRM, _raise_spent)
    signal.alarm(options.budget_s)
    guard = threading.Timer(options.budget_s + GRACE_S, _leave, [bench, options.out])
    guard.daemon = True
    guard.start()
    try:
        bench.run()
    except BudgetSpent:
        bench.left_out.append("stopped: the budget was spent")
    finally:
        signal.alarm(0)
        guard.cancel()
        report = write_report(bench, options.out)
    sys.stdout.write(report.text + "\n")
    if not report.is_right:
        return 1
    return 1 if options.check and not report.reached_goals else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/gpu.sh",
        description="One training step against the CPU's; images/s and memory of R50-FPN at "
        "800 x 1333 against torchvision's reference loop; a profile. Exit code 1 where a step "
        "is wrong.",
    )
    parser.add_argument(
        "--tiny", action="store_true", help="tiny pictures and a tiny model, on any machine"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit code 1 also where a goal is missed"
    )
    parser.add_argument(
        "--budget-s", type=int, default=BUDGET_S, help=f"seconds in all (default {BUDGET_S})"
    )
    parser.add_argument(
        "--batch", type=int, action="append", help="only this batch size; repeatable"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-bench.json"), help="the JSON file to write"
    )
    return parser.parse_args()


def _leave(bench: Bench, out: Path) -> None:
    from bench.gpu.report import write_report

    bench.left_out.append("stopped: the budget was spent, and the main thread did not answer")
    sys.stdout.write(write_report(bench, out).text + "\n")
    sys.stdout.flush()
    os._exit(1)


def _raise_spent(*_: object) -> None:
    raise BudgetSpent


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # At once: a thread of the profiler that is still there would abort an orderly exit.
    os._exit(code)
