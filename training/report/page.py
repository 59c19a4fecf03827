"""Puts the page together: read, draw, fill the template."""

from __future__ import annotations

from training.layout import LogChannel, TrainChannel
from training.report import sections
from training.report.by_class import by_class
from training.report.figures import evaluation_figure, other_figures, training_figures
from training.report.gallery import build_gallery
from training.report.record import Record, read_record
from training.report.template import fill


def render(log: LogChannel, train: TrainChannel | None) -> str:
    """Return the page of a job as HTML."""
    record = read_record(log)
    status = sections.status(record)
    classes = by_class(log, train)
    return fill(
        "report.html.j2",
        name=str(record.job.get("job_name") or log.root.name or "job"),
        status=status,
        subtitle=sections.subtitle(record),
        notes=[*sections.notes(record), *([classes.problem] if classes.problem else [])],
        tiles=sections.tiles(record.metrics),
        rank_logs=() if status.tone == "good" else record.rank_logs,
        ranks=record.ranks,
        failed_rank=_failed_rank(record),
        map_table=sections.map_table(record.metrics),
        map_step=record.metrics.last_evaluation_step,
        map_figure=evaluation_figure(record.metrics),
        by_class=classes,
        gallery=build_gallery(log, train, classes.evaluation),
        figures=training_figures(record.metrics),
        others=other_figures(record.metrics),
        timing=sections.timing(record),
        command=sections.command(record),
        setup=sections.setup(record),
    )


def _failed_rank(record: Record) -> int | None:
    """Return the first rank whose last lines hold a traceback, to be shown open."""
    return next(
        (
            log.rank
            for log in record.rank_logs
            if any(line.startswith("Traceback (most recent call last)") for line in log.lines)
        ),
        record.rank_logs[0].rank if record.rank_logs else None,
    )
