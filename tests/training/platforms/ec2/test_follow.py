"""Following a job to its end, whatever is down meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.platforms.ec2.fake_head import FakeHead, host, status
from tests.training.platforms.sagemaker.clockwork import Clockwork
from training.errors import (
    AwsError,
    ExitCode,
    Interrupted,
    JobCheckpointed,
    JobFailed,
    TrainingError,
    UsageError,
)
from training.platforms.ec2.answer import HeadAway, HeadClosed
from training.platforms.ec2.follow import HEAD_AWAY_S, LOOK_S, follow
from training.platforms.ec2.output import Output

AWAY = HeadAway("the head node does not answer")


def followed(head: FakeHead, clock: Clockwork | None = None) -> tuple[list[str], list[str]]:
    """Return the lines that were shown, and what was told of the job."""
    shown: list[str] = []
    told: list[str] = []
    timer = (clock or Clockwork()).timer
    follow(head, "job-1", shown.append, tell=told.append, timer=timer)
    return shown, told


def test_lines_and_stages_are_shown_each_once_until_the_end() -> None:
    head = FakeHead(
        {
            "status": [
                status("waiting", reason="for workers"),
                status("running", hosts=[host("10.0.0.1"), host("10.0.0.2")]),
                status("running", hosts=[host("10.0.0.1")], restarts=1),
                status("completed", hosts=[host("10.0.0.1")], restarts=1),
            ]
        },
        text="total_loss: 1.5\r\nsegm é\n".encode() + b"the last line has no end",
    )
    shown, told = followed(head)
    assert shown == ["total_loss: 1.5", "segm é", "the last line has no end"]
    assert told == [
        "job-1: waiting (for workers)",
        "job-1: running, on 2 host(s)",
        "job-1: running, on 1 host(s), restarts: 1",
        "job-1: completed, on 1 host(s), restarts: 1",
    ]


def test_a_long_log_is_read_to_its_end_and_a_quiet_job_costs_one_request_a_look() -> None:
    lines = [f"line {number} {'x' * 90}" for number in range(1000)]
    head = FakeHead(
        {"status": [status("running"), status("running"), status("completed")]},
        text="\n".join([*lines, ""]).encode(),
    )
    shown, _ = followed(head)
    assert shown == lines
    offsets = [request["offset"] for action, request in head.asked if action == "logs" and request]
    assert offsets == sorted(offsets)
    looks = "".join("s" if action == "status" else "l" for action in head.actions())
    # The first reads all; the second asks once; the last makes sure that nothing is left.
    assert looks.split("s")[2:] == ["l", "l"]


@given(text=st.text(alphabet="ab\né", max_size=80), chunk=st.integers(min_value=2, max_value=9))
def test_no_line_is_lost_or_doubled_however_the_text_is_cut(text: str, chunk: int) -> None:
    class Cut(FakeHead):
        def _logs(self, offset: int) -> dict[str, object]:
            part = self.text[offset : offset + chunk].decode(errors="ignore")
            after = offset + len(part.encode())
            return {"text": part, "next": after, "done": after == len(self.text)}

    shown: list[str] = []
    output = Output(Cut(text=text.encode()), "job-1", shown.append)
    output.look()
    output.look(is_last=True)
    expected = text.split("\n")
    assert shown == (expected if expected[-1] else expected[:-1])


def test_a_job_that_writes_faster_than_it_is_read_is_shown_up_to_now() -> None:
    class Fast(FakeHead):
        def _logs(self, offset: int) -> dict[str, object]:
            size = len(self.text)
            part = self.text[offset : offset + 15_000].decode()
            self.text += b"later\n" * 5000
            after = offset + len(part)
            return {"text": part, "next": after, "size": size, "done": False}

    shown: list[str] = []
    Output(Fast(text=b"now\n" * 10_000), "job-1", shown.append).look(is_last=True)
    # Two whole pieces, and the third, in which the size at the beginning was reached.
    assert shown.count("now") == 10_000
    assert len(shown) < 10_000 + 15_000


def test_a_head_that_is_replaced_is_waited_for_and_told_once() -> None:
    head = FakeHead(
        {"status": [status("running"), AWAY, AWAY, AWAY, status("running"), status("completed")]},
        text=b"one\ntwo\n",
    )
    shown, told = followed(head)
    assert shown == ["one", "two"]
    assert told == [
        "job-1: running",
        f"{AWAY}. The job goes on as soon as a head node is there: waiting for it",
        "the head node answers again",
        "job-1: completed",
    ]


def test_a_head_that_is_up_before_its_efs_is_waited_for() -> None:
    early = HeadClosed("/efs is not mounted yet")
    head = FakeHead(
        {"status": [status("running"), early, status("running"), status("completed")]},
        text=b"one\n",
    )
    shown, told = followed(head)
    assert shown == ["one"]
    assert told[1:3] == [
        f"{early}. The job goes on as soon as a head node is there: waiting for it",
        "the head node answers again",
    ]


def test_a_head_that_stays_away_is_given_up_and_the_job_is_said_to_go_on() -> None:
    clock = Clockwork()
    begun = clock.now_s
    with pytest.raises(AwsError, match="job-1 is not watched any more; if it runs, it goes on"):
        followed(FakeHead({"status": [AWAY]}), clock)
    assert HEAD_AWAY_S < clock.now_s - begun <= HEAD_AWAY_S + 2 * LOOK_S


def test_hosts_that_an_answer_has_no_room_for_are_counted() -> None:
    head = FakeHead(
        {
            "status": [
                status("running", hosts=[host("10.0.0.1")], hosts_left_out=999),
                status("completed"),
            ]
        }
    )
    assert followed(head)[1][0] == "job-1: running, on 1000 host(s)"


@pytest.mark.parametrize(
    ("state", "error", "exit_code", "said"),
    [
        (
            status("failed", reason="rank 3 was killed by SIGKILL", exit_code=137),
            JobFailed,
            ExitCode.JOB_FAILED,
            "job-1 failed: rank 3 was killed by SIGKILL (exit code 137)\nIts last lines:\n"
            "  one\n  two",
        ),
        (
            status("checkpointed", reason="stopped by request"),
            JobCheckpointed,
            ExitCode.CHECKPOINTED,
            "job-1 was stopped with a checkpoint: stopped by request; to go on: the same launch "
            "command with --resume --name job-1",
        ),
        (
            status("stopped"),
            Interrupted,
            ExitCode.INTERRUPTED,
            "job-1 was stopped before there was a checkpoint. To begin anew",
        ),
    ],
)
def test_each_end_has_its_exit_code_and_its_reason(
    state: dict[str, object], error: type[TrainingError], exit_code: ExitCode, said: str
) -> None:
    head = FakeHead({"status": [state]}, text=b"one\ntwo\n")
    with pytest.raises(error) as ended:
        followed(head)
    assert ended.value.exit_code == exit_code
    assert str(ended.value).startswith(said)


def test_ctrl_c_leaves_the_job_running_and_says_how_to_come_back() -> None:
    head = FakeHead({"status": [KeyboardInterrupt()]})
    with pytest.raises(Interrupted, match=r"logs -f job-1 --platform ec2; end it: .* stop job-1"):
        followed(head)


def test_a_name_that_is_not_there_is_the_programs_own_message() -> None:
    with pytest.raises(UsageError, match="no such job"):
        followed(FakeHead({"status": [UsageError("no such job: job-1")]}))


def test_nodes_of_another_version_are_no_traceback() -> None:
    with pytest.raises(AwsError, match=r"of a form that is not known .*state 'dancing'"):
        followed(FakeHead({"status": [status("dancing")]}))
    with pytest.raises(AwsError, match="answer to logs is of a form that is not known"):
        followed(FakeHead({"status": [status("running")], "logs": [{"text": "x"}]}))
