"""What the annotations of COCO's size cost in memory, for many ranks with their workers.

Memory is counted as PSS: a page that n processes share counts as an n-th in each of them, so that
the sum over processes is what the host holds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RANKS, WORKERS = 4, 2
MOST_MB = 300
MOST_RATIO = 1.1
"""Of what one process maps."""


@dataclass(frozen=True)
class Memory:
    """Megabytes of PSS."""

    one_mapped_mb: float
    """Of the tables, in one process alone."""
    all_mapped_mb: float
    """Of the tables, in all ranks and workers together."""
    all_mb: float
    """Of all ranks and workers, with interpreters and libraries."""
    idle_mb: float
    """Of as many ranks and workers that opened the tables of three pictures."""

    @property
    def passed(self) -> bool:
        return self.all_mapped_mb <= min(MOST_MB, MOST_RATIO * self.one_mapped_mb)

    def to_json(self) -> dict[str, Any]:
        return {
            "ranks": RANKS,
            "workers_of_a_rank": WORKERS,
            "one_process_mapped_mb": round(self.one_mapped_mb, 1),
            "all_processes_mapped_mb": round(self.all_mapped_mb, 1),
            "all_processes_mb": round(self.all_mb, 1),
            "same_without_annotations_mb": round(self.idle_mb, 1),
            "passed": self.passed,
        }

    def to_text(self) -> str:
        verdict = "" if self.passed else "  MISSED"
        return (
            f"  annotations of COCO's size, PSS: {self.one_mapped_mb:.0f} MB mapped by one process "
            f"alone, {self.all_mapped_mb:.0f} MB by {RANKS} ranks x {WORKERS} workers together "
            f"(target: at most {MOST_MB} and one copy){verdict}\n"
            f"  those {RANKS * (1 + WORKERS)} processes: {self.all_mb:.0f} MB in all, "
            f"{self.idle_mb:.0f} MB with annotations of three pictures"
        )


def measure(annotations: Path, tables: Path, small: Path) -> Memory:
    """Measure; the tables are made before if they are not there.

    Args:
        annotations: An annotation file of COCO's size.
        tables: Folder of its tables.
        small: An annotation file of three pictures.
    """
    with holding(annotations, tables, [0]) as alone:
        one = pss_of(alone, tables)[0]
    with holding(annotations, tables, [WORKERS] * RANKS) as processes:
        mapped, everything = pss_of(processes, tables)
    with holding(small, tables, [WORKERS] * RANKS) as processes:
        _, idle = pss_of(processes, tables)
    return Memory(one, mapped, everything, idle)


@contextmanager
def holding(annotations: Path, tables: Path, workers: Sequence[int]) -> Iterator[list[int]]:
    """Start ranks, each with so many workers, and give all their process ids."""
    with ExitStack() as stack:
        ranks = []
        for number in workers:
            command = [sys.executable, "-m", "bench.hold_annotations"]
            rank = subprocess.Popen(
                [*command, str(annotations), str(tables), str(number)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(rank.wait)
            assert rank.stdin is not None
            stack.callback(rank.stdin.close)
            ranks.append(rank)
        yield [int(pid) for rank in ranks if rank.stdout for pid in rank.stdout.readline().split()]


def pss_of(processes: Sequence[int], tables: Path) -> tuple[float, float]:
    """Return megabytes of PSS of the tables' pages, and of all pages."""
    mapped = everything = 0
    for process in processes:
        is_table = False
        for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                is_table = str(tables) in line
            elif line.startswith("Pss:"):
                size = int(line.split()[1])
                everything += size
                mapped += size * is_table
    return mapped * 1024 / 1e6, everything * 1024 / 1e6
