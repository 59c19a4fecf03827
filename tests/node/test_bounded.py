"""File operations that cannot hold their process up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from node.bounded import Bounded
from node.errors import NodeError
from tests.node.setup.host import PROJECT
from tests.waiting import wait_for


def test_what_the_child_returns_comes_back() -> None:
    assert Bounded().call(lambda: {"a": [1, "ä" * 100_000]}, timeout_s=60) == {
        "a": [1, "ä" * 100_000]
    }


def test_what_goes_wrong_in_the_child_is_said() -> None:
    with pytest.raises(NodeError, match="No such file or directory"):
        Bounded().call(lambda: Path("/nowhere/file").read_text(), timeout_s=60)
    with pytest.raises(NodeError, match="the child was killed"):
        Bounded().call(lambda: os.kill(os.getpid(), 9), timeout_s=60)


def test_a_child_that_hangs_is_given_up_and_ended() -> None:
    bounded, others = Bounded(), psutil.Process().children()
    begin = time.monotonic()
    with pytest.raises(NodeError, match=r"does not answer \(waited for 0.3 s\)"):
        bounded.call(lambda: time.sleep(1000), timeout_s=0.3)
    assert time.monotonic() - begin < 10
    assert bounded.call(lambda: "again", timeout_s=60) == "again"
    assert set(psutil.Process().children()) <= set(others)


def test_there_is_never_more_than_one_child_that_even_sigkill_does_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As inside a hard mount whose server is away: the kernel keeps the process."""
    bounded, others = Bounded(), set(psutil.Process().children())
    monkeypatch.setattr("node.bounded.os.kill", lambda *_: None)
    with pytest.raises(NodeError):
        bounded.call(lambda: time.sleep(1000), timeout_s=0.1)
    begin = time.monotonic()
    with pytest.raises(NodeError, match="does not answer, still"):
        bounded.call(lambda: 1, timeout_s=60)
    assert time.monotonic() - begin < 10
    monkeypatch.undo()
    for child in set(psutil.Process().children()) - others:
        child.kill()
        wait_for(lambda child=child: child.status() == psutil.STATUS_ZOMBIE, "its end", 10.0)
    assert bounded.call(lambda: 1, timeout_s=60) == 1


def test_whoever_reads_the_output_does_not_wait_for_a_child_that_hangs() -> None:
    script = (
        "import time\nfrom node.bounded import Bounded\nfrom node import bounded\n"
        "bounded.os.kill = lambda *_: None\n"
        "try:\n    Bounded().call(lambda: time.sleep(20), timeout_s=0.1)\n"
        "except Exception as error:\n    print(error)\n"
    )
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "the file system does not answer (waited for 0.1 s)\n"
    assert time.monotonic() - begin < 15


def test_a_child_that_hangs_keeps_nothing_of_its_parents_open() -> None:
    """Else a conductor's lock, and the pipes to its hosts, would outlive it."""
    ours, theirs = os.pipe()

    def closed() -> list[bool]:
        return [not Path(f"/proc/self/fd/{each}").exists() for each in (0, 1, 2, ours, theirs)]

    try:
        assert Bounded().call(closed, timeout_s=60) == [False, False, False, True, True]
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_parent_with_thousands_of_files_can_wait_for_a_child() -> None:
    script = (
        "import os, resource\nfrom node.bounded import Bounded\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))\n"
        "kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]\n"
        "print(Bounded().call(lambda: 'there', timeout_s=10))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("there\n", "")
