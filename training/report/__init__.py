"""The report of a job: one HTML page that needs nothing besides itself.

    write_report(log, train)  ->  log/report.html

It reads the log channel as `training.layout` describes it and works with whatever of it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from training.layout import LogChannel, TrainChannel
from training.maskrcnn.files import write_result

if TYPE_CHECKING:
    from pathlib import Path


def write_report(log: LogChannel, train: TrainChannel | None) -> Path:
    """Write a job's report into its log channel, whole or not at all.

    Args:
        log: The log channel; any file of it may be missing or half written.
        train: The data set, for pictures; None leaves them out.

    Raises:
        JobFailed: The log channel cannot be written to.
    """
    from training.report.page import render

    write_page(log.report, render(log, train))
    return log.report


def write_page(path: Path, html: str) -> None:
    """Write a page, whole or not at all.

    Raises:
        JobFailed: It cannot be written.
    """
    # A text that came with a lone surrogate, as JSON may spell one, is shown as that spelling.
    write_result(path, html.encode("utf-8", "backslashreplace"))
