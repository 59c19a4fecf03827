"""Rank logs and stdout."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from entrypoint.output import LAUNCHER, JobOutput
from hypothesis import given
from hypothesis import strategies as st


def no_error(why: str) -> None:
    raise AssertionError(why)


def make(folder: Path, ranks: int = 2) -> tuple[JobOutput, io.BytesIO]:
    shown = io.BytesIO()
    return JobOutput(str(folder), ranks, shown, no_error), shown


def test_rank_0_is_shown_as_it_is_others_with_their_rank(tmp_path: Path) -> None:
    output, shown = make(tmp_path)
    output.write(0, b"total_loss: 1.5\npart")
    output.write(1, b"one\n")
    output.write(0, b" of a line\n")
    output.write(LAUNCHER, b"mpirun's own\n")
    output.write(1, b"last")
    output.close()
    assert shown.getvalue() == b"total_loss: 1.5\n[rank 1] one\npart of a line\n[rank 1] last\n"
    assert (tmp_path / "rank-0.log").read_bytes() == b"total_loss: 1.5\npart of a line\n"
    assert (tmp_path / "rank-1.log").read_bytes() == b"one\nlast"
    assert (tmp_path / "launcher.log").read_bytes() == b"mpirun's own\n"


def test_every_rank_has_a_file_from_the_start_and_an_earlier_run_stays(tmp_path: Path) -> None:
    (tmp_path / "rank-0.log").write_text("before\n")
    output, _ = make(tmp_path)
    output.write(0, b"now\n")
    output.close()
    assert (tmp_path / "rank-0.log").read_text() == "before\nnow\n"
    assert (tmp_path / "rank-1.log").read_bytes() == b""


@given(chunks=st.lists(st.tuples(st.integers(0, 2), st.binary(max_size=30)), max_size=30))
def test_whatever_the_cuts_every_byte_is_in_its_file_and_every_line_is_shown_once(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[tuple[int, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    output, shown = make(folder, ranks=3)
    for rank, data in chunks:
        output.write(rank, data)
    output.close()
    for rank in range(3):
        whole = b"".join(data for of, data in chunks if of == rank)
        assert (folder / f"rank-{rank}.log").read_bytes() == whole
        prefix = f"[rank {rank}] ".encode() if rank else b""
        lines = whole.removesuffix(b"\n").split(b"\n") if whole else []
        for line in lines:
            assert prefix + line + b"\n" in shown.getvalue()
    assert shown.getvalue().count(b"\n") == sum(
        len(whole.removesuffix(b"\n").split(b"\n")) if whole else 0
        for whole in (b"".join(data for of, data in chunks if of == rank) for rank in range(3))
    )


def test_last_lines_are_text_without_what_a_progress_bar_wrote_over(tmp_path: Path) -> None:
    output, _ = make(tmp_path)
    output.write(1, b"".join(b"line %d\n" % number for number in range(50)))
    output.write(1, b"10%\r50%\r\xff 99%\n\nunfinished")
    last = output.last(1)
    output.close()
    assert last[-3:] == ["line 49", "� 99%", "unfinished"]
    assert last[0] == "line 32"
    assert output.last(LAUNCHER) == []


def test_a_full_disk_is_told_once_and_stdout_goes_on(tmp_path: Path) -> None:
    told: list[str] = []
    shown = io.BytesIO()
    # Linux's device that is always full.
    (tmp_path / "rank-0.log").symlink_to("/dev/full")
    output = JobOutput(str(tmp_path), 1, shown, told.append)
    output.write(0, b"one\n")
    output.write(0, b"two\n")
    output.close()
    full = f"{tmp_path}/rank-0.log: cannot be written (No space left on device)"
    assert told == [full]
    assert shown.getvalue() == b"one\ntwo\n"


def test_a_reader_that_has_gone_does_not_end_the_job(tmp_path: Path) -> None:
    output, shown = make(tmp_path)
    shown.close()
    output.write(0, b"one\n")
    output.close()
    assert (tmp_path / "rank-0.log").read_bytes() == b"one\n"
