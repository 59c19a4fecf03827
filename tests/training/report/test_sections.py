from typing import Any

import pytest

from training.report import sections
from training.report.record import read_record


@pytest.mark.parametrize(
    ("status", "tone", "said"),
    [
        ("completed", "good", "The job ran to its end: 40 steps."),
        ("checkpointed", "waiting", "saved a checkpoint at step 40. Run it again to go on."),
        ("failed", "bad", "The job failed at step 40: disk full"),
        ("strange", "unknown", "disk full"),
    ],
)
def test_the_outcome_is_told_in_words(sample: Any, status: str, tone: str, said: str):
    sample.write_outcome(status, 40, message="disk full")
    told = sections.status(read_record(sample.log))
    assert told.tone == tone
    assert said in told.sentence


def test_a_killed_job_is_told_from_one_that_never_started(sample: Any):
    assert "before the first step" in sections.status(read_record(sample.log)).sentence
    sample.write_metrics(40)
    told = sections.status(read_record(sample.log))
    assert (told.tone, told.label) == ("unknown", "No outcome")
    assert "killed or still runs. Its record ends at step 40." in told.sentence


def test_tiles_show_what_is_known(sample: Any):
    assert sections.tiles(read_record(sample.log).metrics) == []
    sample.write_metrics(40)
    tiles = sections.tiles(read_record(sample.log).metrics)
    assert [(tile.label, tile.value, tile.note) for tile in tiles] == [
        ("Mask mAP", "0.600", "IoU=0.5:0.95"),
        ("Box mAP", "0.700", "IoU=0.5:0.95"),
        ("Loss", "0.100", "from 0.400"),
        ("Throughput", "30.0 img/s", "mean of what was logged"),
        ("Time", "35 s", "first to last line, 40 steps"),
    ]


def test_the_table_tells_no_such_object_from_zero(sample: Any):
    lines = [sample.evaluation_line(10, **{"mAP(bbox)/large": 0.0})]
    sample.log.metrics.write_text("\n".join(lines), encoding="utf-8")
    table = dict(sections.map_table(read_record(sample.log).metrics))
    assert list(table) == ["IoU=0.5:0.95", "IoU=0.5", "IoU=0.75", "small", "medium", "large"]
    assert table["small"] == [None, None]
    assert table["large"] == ["0.600", "0.000"]


def test_times_and_speeds_are_listed(sample: Any):
    sample.write_metrics(40)
    rows = dict(sections.timing(read_record(sample.log)))
    assert rows["Time between them, pauses included"] == "35 s"
    assert rows["Steps"] == "40 (4.00 epochs)"
    assert rows["Per step, on average"] == "1 s"
    assert rows["Throughput, mean of what was logged"] == "30.0 img/s"
    assert rows["Waiting for data, on average"] == "2.0%"
    assert rows["Memory of rank 0, at most"] == "740 MiB"


def test_the_command_is_quoted_for_a_shell(sample: Any):
    sample.write_job()
    assert sections.command(read_record(sample.log)) == (
        "python -m training.launch 'jobs/a b.yaml' --yes"
    )


def test_what_ran_is_flat_and_without_empty_tables(sample: Any):
    sample.write_job(versions={"torch": "2.14.1"}, machine={})
    tables = dict(sections.setup(read_record(sample.log)))
    assert ("torch", "2.14.1") in tables["Versions"]
    assert ("instances.count", "1") in tables["Job spec"]
    assert "Machine" not in tables


def test_notes_tell_what_the_record_lacks(sample: Any):
    lines = [sample.train_line(step) for step in (10, 20, 10, 20)]
    lines += [sample.train_line(30, total_loss=float("nan")), '{"kind": "tra']
    sample.log.metrics.write_text("\n".join(lines), encoding="utf-8")
    assert sections.notes(read_record(sample.log)) == [
        "1 line of metrics.jsonl is not whole and left out.",
        "total_loss was not finite 1 time, first at step 30.",
        "The job was resumed: step 10 was done again.",
    ]
