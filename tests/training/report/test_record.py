from typing import Any

from training.report.record import TAIL_LINES, read_record


def test_an_empty_channel_gives_an_empty_record(sample: Any):
    record = read_record(sample.log)
    assert (record.job, record.hyperparameters, record.outcome) == ({}, {}, None)
    assert (record.rank_logs, record.problems) == ((), ())


def test_files_that_are_not_whole_are_said(sample: Any):
    sample.log.job.write_text('{"job_name": "a', encoding="utf-8")
    sample.log.hyperparameters.write_text("[1]", encoding="utf-8")
    sample.log.outcome.mkdir()
    record = read_record(sample.log)
    assert record.problems == (
        "job.json is not whole: it is not JSON.",
        "hyperparameters.json holds no object.",
        "outcome.json cannot be read (Is a directory).",
    )


def test_ranks_are_in_order_of_their_number(sample: Any):
    for rank in (10, 2, 0):
        sample.log.rank(rank).write_text(f"from {rank}\n", encoding="utf-8")
    assert [(log.rank, log.lines) for log in read_record(sample.log).rank_logs] == [
        (0, ("from 0",)),
        (2, ("from 2",)),
        (10, ("from 10",)),
    ]


def test_only_the_last_lines_of_a_long_log_are_read(sample: Any):
    sample.log.rank(0).write_text("".join(f"line {n}\n" for n in range(100_000)), encoding="utf-8")
    (log,) = read_record(sample.log).rank_logs
    assert log.lines[-1] == "line 99999"
    assert len(log.lines) == TAIL_LINES


def test_terminal_escapes_and_progress_bars_are_cleaned(sample: Any):
    raw = b"\x1b[31mred\x1b[0m\r\n 10%\r 50%\r100% done\nbad \xff byte\n" + b"x" * 5000 + b"\n"
    sample.log.rank(0).write_bytes(raw)
    (log,) = read_record(sample.log).rank_logs
    assert log.lines[:3] == ("red", "100% done", "bad � byte")
    assert log.lines[3] == "x" * 400 + " …"
