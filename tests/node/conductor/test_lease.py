from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from node.conductor import lease as module
from node.conductor import places
from node.conductor.lease import Lease, LeaseLost, boot_id
from node.conductor.places import RunFolder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.setattr(places, "RUN", tmp_path / "run")
    monkeypatch.setattr(module, "RENEW_S", 0)
    folder = RunFolder(tmp_path / "log")
    folder.conductor.mkdir(parents=True)
    return folder


def test_one_process_of_a_machine_holds_a_job(run: RunFolder) -> None:
    first, second = Lease(run, "one", "i-1"), Lease(run, "one", "i-1")
    assert first.take()
    assert not second.take()
    first.renew()
    assert json.loads(run.lease.read_text())["count"] == 2
    first.release()
    assert not run.lease.exists()
    assert second.take()
    second.release()


def test_the_lease_of_a_process_here_that_was_killed_is_free_at_once(run: RunFolder) -> None:
    code = (
        "import os, sys; from pathlib import Path; from node.conductor.lease import Lease; "
        "from node.conductor.places import RunFolder; "
        "assert Lease(RunFolder(Path(sys.argv[1])), 'one', 'i-1').take(); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "MASK_RCNN_RUN": str(places.RUN)}
    subprocess.run([sys.executable, "-c", code, str(run.root)], check=False, env=environment)
    assert json.loads(run.lease.read_text())["boot_id"] == boot_id()
    waits: list[float] = []
    lease = Lease(run, "one", "i-1")
    assert lease.take(pause=waits.append)
    assert waits == []
    lease.release()


def test_another_heads_lease_is_waited_for_while_it_changes(run: RunFolder) -> None:
    def write(count: int) -> None:
        other = {"instance_id": "i-2", "boot_id": "x", "pid": 1, "count": count}
        run.lease.write_text(json.dumps(other))

    write(0)
    turns = 0

    def pause(_seconds: float) -> None:
        nonlocal turns
        turns += 1
        if turns < 5:
            write(turns)
        elif turns == 5:
            run.lease.unlink()

    lease = Lease(run, "one", "i-1")
    assert lease.take(pause=pause)
    assert turns == 5, "at once when it is let go"
    lease.release()


def test_another_heads_lease_that_stays_the_same_is_taken(run: RunFolder) -> None:
    other = {"instance_id": "i-2", "boot_id": "x", "pid": 1, "count": 7}
    run.lease.write_text(json.dumps(other))
    lease = Lease(run, "one", "i-1")
    assert lease.take(stale_s=0.01, pause=lambda _seconds: None)
    run.lease.write_text(json.dumps(other))
    with pytest.raises(LeaseLost, match="i-2 conducts job one now"):
        lease.renew()
    lease.release()


def test_a_half_written_lease_is_no_other_head(run: RunFolder) -> None:
    run.lease.write_text('{"instance_id": "i-')
    lease = Lease(run, "one", "i-1")
    assert lease.take(pause=lambda _seconds: None)
    lease.release()
