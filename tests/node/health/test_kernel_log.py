"""Xid errors in the kernel's log."""

from __future__ import annotations

import pytest

from node.health.kernel_log import judge_xids

LINES = {
    79: "NVRM: Xid (PCI:0000:10:1c): 79, pid='<unknown>', GPU has fallen off the bus.",
    63: "[ 12.1] NVRM: Xid (PCI:0000:a0:1d): 63, pid=1896, Row Remapper: New row marked",
    31: "NVRM: Xid (0000:01:00): 31, Ch 0000000b, engmask 00000120, intr 10000000",
}


@pytest.mark.parametrize(
    ("numbers", "status", "said", "count"),
    [
        ([], "ok", "", 0),
        ([31], "warning", "Xid 31: often a program's fault", 1),
        ([31, 79], "failed", "Xid 79 on 0000:10:1c: the GPU needs a reset", 2),
        ([63, 63, 79], "failed", "Xid 63 on 0000:a0:1d, 79 on 0000:10:1c", 3),
    ],
)
def test_fatal_ones_ask_for_another_machine(
    numbers: list[int], status: str, said: str, count: int
) -> None:
    text = "\n".join(["usb 1-1: new device", *(LINES[number] for number in numbers)])
    check = judge_xids(text)
    assert (check.status, check.value) == (status, count)
    assert said in check.message
