"""The GPUs of a node, as their driver tells."""

from __future__ import annotations

from collections.abc import Iterator

from .check import Check, failed, ok
from .command import Output, run

FIELDS = "index,driver_version,ecc.errors.uncorrected.volatile.total,retired_pages.pending"
QUERY = ("nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits")
REMAPPED = (
    "nvidia-smi",
    "--query-remapped-rows=gpu_bus_id,remapped_rows.pending,remapped_rows.failure",
    "--format=csv,noheader,nounits",
)
"""Of A100 and newer; older GPUs retire pages instead.

https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
"""


def check_gpus(expected: int, *, timeout_s: float) -> Iterator[Check]:
    """Yield what the driver says, where there should be GPUs.

    Args:
        expected: How many the instance type has.
        timeout_s: For each of two queries.
    """
    if expected == 0:
        return
    answer = run(QUERY, timeout_s=timeout_s)
    if not answer.is_ok:
        yield failed("gpus", _why_none(answer, expected, timeout_s), 0)
        return
    yield from judge_gpus(answer.text, expected)
    remapped = run(REMAPPED, timeout_s=timeout_s)
    yield judge_memory(answer.text, remapped.text if remapped.is_ok else "")


def _why_none(answer: Output, expected: int, timeout_s: float) -> str:
    if answer.is_late:
        return f"nvidia-smi did not answer within {timeout_s:g} s: a GPU hangs. Replace the node"
    if answer.code is None:
        return (
            f"there is no nvidia-smi, and the instance type has {expected} GPU(s): the machine "
            "image has no NVIDIA driver. Leave cluster_ami out for the Deep Learning AMI, or name "
            "one with the driver, and deploy ClusterStack again"
        )
    return f"nvidia-smi: {answer.error or answer.text.strip() or answer.code}"


def judge_gpus(text: str, expected: int) -> Iterator[Check]:
    """Judge the answer to `QUERY`: one line a GPU."""
    rows = _rows(text)
    count = len(rows)
    if count < expected:
        yield failed(
            "gpus",
            f"{count} of the {expected} GPUs of the instance type are there: one has failed. "
            "Replace the node",
            count,
        )
    else:
        yield ok("gpus", count)
    versions = sorted({row[1] for row in rows})
    if versions:
        yield ok("driver", " ".join(versions))


def judge_memory(text: str, remapped: str) -> Check:
    """Judge uncorrected errors of the GPUs' memory since the driver was loaded, and spare rows.

    Args:
        text: The answer to `QUERY`.
        remapped: The answer to `REMAPPED`; empty where the driver knows no such query.
    """
    rows = _rows(text)
    counts = {row[0]: int(row[2]) for row in rows if row[2].isdigit()}
    bad = [f"GPU {index}: {count}" for index, count in counts.items() if count]
    if bad:
        return failed(
            "ecc",
            f"uncorrected memory errors since the start ({', '.join(bad)}). Replace the node",
            sum(counts.values()),
        )
    failures = [row[0] for row in _rows(remapped) if row[2].isdigit() and int(row[2])]
    if failures:
        return failed(
            "ecc", f"no spare memory rows are left ({', '.join(failures)}). Replace the node"
        )
    pending = [row[0] for row in _rows(remapped) if row[1].isdigit() and int(row[1])]
    pending += [f"GPU {row[0]}" for row in rows if row[3] == "Yes"]
    if pending:
        return failed(
            "ecc",
            f"faulty memory is put aside at the next reset ({', '.join(pending)}). Reboot the "
            "node, or replace it",
        )
    return ok("ecc", sum(counts.values()) if counts else "not counted")


def _rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()
    ]
