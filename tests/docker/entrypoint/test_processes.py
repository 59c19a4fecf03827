"""Processes below the entry point."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from entrypoint.processes import exit_text
from entrypoint.rank import rank_environment, rank_of

ROOT = Path(__file__).parents[3]

_STORY = """
import os, subprocess, sys, time
sys.path.insert(0, {docker!r})
from entrypoint.processes import adopt_orphans, kill_all_below, reap_orphans

adopt_orphans()
# A daemon, as mpirun's on a worker: its parent leaves it, it has a session of its own.
parent = subprocess.Popen(
    [sys.executable, "-c", "import subprocess; p = subprocess.Popen(['sleep', '60'], "
     "stdout=subprocess.DEVNULL, start_new_session=True); print(p.pid)"],
    stdout=subprocess.PIPE,
)
daemon = int(parent.communicate()[0])
other = subprocess.Popen(["sleep", "60"])
ended = subprocess.Popen(["sh", "-c", "exit 7"])
# One that a child leaves behind, and that is killed.
os.kill(int(subprocess.check_output(
    ["sh", "-c", "sleep 61 > /dev/null & echo $!"], start_new_session=True
)), 9)
time.sleep(0.3)
print([tuple(orphan) for orphan in reap_orphans([other, ended])])
print(os.path.exists("/proc/%d" % daemon), kill_all_below([other, ended]))
print(os.path.exists("/proc/%d" % daemon), other.wait(), ended.wait())
"""


def test_everything_below_is_ended_daemons_too_and_no_exit_code_is_lost() -> None:
    story = _STORY.format(docker=str(ROOT / "docker"))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(story)], check=True, capture_output=True, text=True
    )
    assert done.stdout == "[('sleep', -9)]\nTrue True\nFalse -9 7\n"


def test_a_rank_ends_with_what_started_it() -> None:
    code = (
        f"import sys, subprocess; sys.path.insert(0, {str(ROOT / 'docker')!r})\n"
        "from entrypoint.processes import die_with_parent\n"
        "child = subprocess.Popen(['sleep', '60'], preexec_fn=die_with_parent)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    psutil.wait_procs([child], timeout=10)
    assert not child.is_running()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "ended with exit code 0"),
        (3, "ended with exit code 3"),
        (-9, "was killed by SIGKILL (the kernel kills so when memory runs out)"),
        (-11, "was killed by SIGSEGV"),
        (-77, "was killed by signal 77"),
    ],
)
def test_an_end_is_told_in_words(code: int, text: str) -> None:
    assert exit_text(code) == text


def test_a_rank_has_its_hosts_variables_and_what_the_launcher_added() -> None:
    of_host = {"PATH": "/opt/bin", "HOME": "/root", "USER_SET": "$(touch x)", "MASTER_ADDR": "old"}
    inherited = {
        "PATH": "/usr/bin",
        "HOME": "/home/ssh",
        "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 2",
        "SHELL": "/bin/sh",
        "OMPI_COMM_WORLD_RANK": "3",
        "MASTER_ADDR": "algo-1",
        "MASK_RCNN_RANK_SOCKET": "/tmp/x",
    }
    assert rank_environment(of_host, inherited) == {
        "PATH": "/opt/bin",
        "HOME": "/root",
        "USER_SET": "$(touch x)",
        "OMPI_COMM_WORLD_RANK": "3",
        "MASTER_ADDR": "algo-1",
    }


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({"OMPI_COMM_WORLD_RANK": "3", "RANK": "9"}, 3),
        ({"PMIX_RANK": "2"}, 2),
        ({"RANK": "0"}, 0),
    ],
)
def test_a_ranks_number_is_the_launchers(variables: dict[str, str], rank: int) -> None:
    assert rank_of(variables) == rank


def test_a_rank_without_a_launcher_says_so() -> None:
    with pytest.raises(SystemExit, match="start ranks by a launcher"):
        rank_of({})
