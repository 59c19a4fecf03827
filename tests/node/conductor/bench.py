"""A cluster on this machine: its nodes are addresses of `lo`, AWS and systemd are small programs.

What a node runs is real: `host-run` in a process of its own, started by the conductor, and the
entry point below it. `programs/` has what is not: `aws`, `systemctl`, `ssh`, which runs here what
it would run there, and the nodes' command.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).with_name("programs")
HEAD, WORKERS = "127.0.0.1", ("127.0.0.2", "127.0.0.3", "127.0.0.4")


@dataclass
class Bench:
    """The cluster, below one folder."""

    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    memory: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in (
            "efs/mask-rcnn/clusters/test/nodes",
            "run",
            "local",
            "home/venv/bin",
            "aws/s3",
        ):
            (self.folder / name).mkdir(parents=True)
        config = {
            "cluster": "test",
            "role": "head",
            "region": "us-west-2",
            "stack": "ClusterStack",
            "resource": "",
            "head_group": "head",
            "worker_group": "workers",
            "efs": {"id": "fs-1", "mount": str(self.efs), "dns": "efs"},
            "fsx": None,
            "key_secret_arn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:key",
            "log_group": "/mask-rcnn/test",
            "runs_in": "environment",
            "elastic_ip_allocation": None,
            "setup_minutes": 5,
            "events": {"source": "mask-rcnn-test", "detail_type": "Training Job State Change"},
        }
        (self.folder / "node.json").write_text(json.dumps(config))
        python = self.folder / "home" / "venv" / "bin" / "python"
        python.write_text('#!/bin/sh\nexec "$BENCH_PYTHON" "$@"\n')
        python.chmod(0o755)
        (self.folder / "home" / "entrypoint").symlink_to(PROGRAMS / "entrypoint.py")
        (self.efs / "data").mkdir()
        self.set_group(desired=0, most=4)
        self.set_nodes()

    # What there is

    @property
    def efs(self) -> Path:
        return self.folder / "efs"

    @property
    def run(self) -> Path:
        """The run folder of the request below."""
        return self.efs / "output" / "log-one"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "BENCH": str(self.folder),
            "BENCH_PYTHON": sys.executable,
            "MASK_RCNN_NODE_CONFIG": str(self.folder / "node.json"),
            "MASK_RCNN_RUN": str(self.folder / "run"),
            "MASK_RCNN_LOCAL": str(self.folder / "local"),
            "MASK_RCNN_HOME": str(self.folder / "home"),
            "MASK_RCNN_COMMAND": str(PROGRAMS / "mask-rcnn-node"),
            **self.variables,
        }

    def change_config(self, **changes: Any) -> None:
        """Have the nodes be told something else, as by a deploy."""
        path = self.folder / "node.json"
        _write(path, {**json.loads(path.read_text()), **changes})

    def set_group(self, **changes: Any) -> None:
        path = self.folder / "aws" / "group.json"
        known = json.loads(path.read_text()) if path.exists() else {"activities": []}
        _write(path, {**known, **changes})

    def group(self) -> dict[str, Any]:
        group: dict[str, Any] = json.loads((self.folder / "aws" / "group.json").read_text())
        return group

    def set_nodes(self, *workers: str, left_out: tuple[tuple[str, str], ...] = ()) -> None:
        """Have these workers be discovered, and the head."""
        hosts = [_node(HEAD, "head", slots=0), *(_node(each, "worker") for each in workers)]
        out = [
            {
                "instance_id": _instance(address),
                "address": address,
                "role": "worker",
                "reason": reason,
            }
            for address, reason in left_out
        ]
        _write(self.folder / "nodes.json", {"hosts": hosts, "left_out": out})

    def calls(self, *words: str) -> list[list[str]]:
        """Return the calls of `aws` and `systemctl` that begin so."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        calls = [json.loads(line) for line in lines]
        return [call for call in calls if call[: len(words)] == list(words)]

    def told(self) -> list[tuple[str, str]]:
        """Return what was told of jobs: which job, and what of it."""
        path = self.folder / "aws" / "events"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(detail["job"], detail["status"]) for detail in map(json.loads, lines)]

    def request(self, **changes: Any) -> dict[str, Any]:
        return {
            "version": 1,
            "name": "one",
            "fingerprint": "0" * 64,
            "algorithm": "horovod",
            "distribution": "mpi",
            "image": None,
            "workers": 2,
            "least_workers": 2,
            "processes_per_host": 1,
            "hyperparameters": {"program": ""},
            "environment": {"BENCH": str(self.folder), "BENCH_PYTHON": sys.executable},
            "data": {"path": str(self.efs / "data")},
            "log": str(self.run),
            "model_copied_to": "s3://bucket/output/one/model.pt",
            "max_run_s": 3600,
            "stall_s": 600,
            "retries": 1,
            "workers_wait_s": 20,
            "keep_workers": False,
            "resume": False,
            "queue": False,
            "tags": {},
            "network_interface": "lo",
            **changes,
        }

    # What is done

    def ask(self, action: str, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Run an action as the launcher has it run; return its answer."""
        text = base64.b64encode(json.dumps(document).encode()).decode() if document else ""
        done = subprocess.run(
            [str(PROGRAMS / "mask-rcnn-node"), action, *([text] if text else [])],
            env=self.environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.stdout, done.stderr.decode()
        answer: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode != 0) == ("error" in answer), done.stderr.decode()
        return answer

    def conduct(self, name: str = "one") -> subprocess.Popen[bytes]:
        """Do what the unit does."""
        said = (self.folder / f"conductor-{len(self.started)}.err").open("wb")
        process = subprocess.Popen(
            [str(PROGRAMS / "mask-rcnn-node"), "conduct", name],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def status(self, name: str = "one") -> dict[str, Any]:
        return self.ask("status", {"name": name})

    def output(self) -> str:
        path = self.run / "conductor" / "output.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait(self, what: Callable[[], Any], timeout_s: float = 120) -> None:
        """Wait until something is so, and fail with the job's output where it does not come."""
        deadline = time.monotonic() + timeout_s
        while not what():
            assert time.monotonic() < deadline, self.output()[-4000:]
            time.sleep(0.05)

    def wait_for_output(self, text: str, timeout_s: float = 120) -> None:
        self.wait(lambda: text in self.output(), timeout_s)

    def wait_for_end(self, timeout_s: float = 60) -> dict[str, Any]:
        """Wait until the last conductor has left; return the job's status."""
        try:
            code = self.started[-1].wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(self.output()[-6000:]) from error
        said = sorted(self.folder.glob("conductor-*.err"))[-1].read_text()
        assert code == 0, f"{said}\n{self.output()[-3000:]}"
        return self.status()

    # What runs

    def processes(self, *words: str) -> list[psutil.Process]:
        """Return the processes of this cluster whose command line has all these words; a program or
        a file is named by its last part."""
        found = []
        for process in psutil.process_iter():
            try:
                line = process.cmdline()
                is_ours = process.environ().get("BENCH") == str(self.folder) or any(
                    str(self.folder) in part for part in line
                )
            except psutil.Error:
                continue
            if is_ours and all(_has(line, word) for word in words):
                found.append(process)
        return found

    def lose_host(self, address: str) -> None:
        """Have a host vanish: all that runs on it, and what was started for it."""
        # In memory there, and gone with the machine.
        servers = re.compile(r"-f (/run/mask-rcnn-\w+)/sshd_config")
        for process in psutil.process_iter():
            try:
                found = servers.search(" ".join(process.cmdline()))
                is_there = process.parent().environ()["MASK_RCNN_MARK"].endswith(f"/{address}")
            except (psutil.Error, KeyError, AttributeError):
                continue
            if found and is_there:
                self.memory.append(Path(found[1]))
        for process in self.processes():
            try:
                mark = process.environ().get("MASK_RCNN_MARK", "")
                is_part = process.environ().get("BENCH_HOST") == address
            except psutil.Error:
                continue
            if mark.endswith(f"/{address}") or is_part:
                _kill(process)

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        for _ in range(3):
            for process in self.processes():
                if process.pid != os.getpid():
                    _kill(process)
        for folder in self.memory:
            shutil.rmtree(folder, ignore_errors=True)


def _has(line: list[str], word: str) -> bool:
    return any(part == word or part.endswith(f"/{word}") for part in line)


def _kill(process: psutil.Process) -> None:
    try:
        process.send_signal(signal.SIGKILL)
    except psutil.Error:
        return


def _node(address: str, role: str, slots: int = 1) -> dict[str, Any]:
    return {
        "instance_id": _instance(address),
        "role": role,
        "address": address,
        "slots": slots,
        "instance_type": "m6i.xlarge",
        "zone": "us-west-2a",
        "time": 0.0,
        "state": "ready",
        "reason": "",
    }


def _instance(address: str) -> str:
    return f"i-{int(address.rpartition('.')[2]):017x}"


def _write(path: Path, document: Any) -> None:
    aside = path.with_name(f"{path.name}.new")
    aside.write_text(json.dumps(document))
    aside.replace(path)
