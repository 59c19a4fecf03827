"""Conducts a copy of data: one container on the head, with the shared file systems to write to.

It has its place in the index of jobs, its lease and its unit as a job has; it takes no worker,
waits for no turn, and is started again where the conductor or the head was lost: what is at the
target already is not copied twice.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

from node.errors import NodeError

from . import engine, places
from .contract import read_failure, write_documents
from .duty import Conducting, Leaving
from .lease import LeaseLost
from .round import FAILED, STOPPED, exit_text
from .staging_request import StagingRequest, parse_staging
from .state import now, read_object

LOOK_S = 0.5
GRACE_S = 60
"""From the request to stop until the copy is killed."""


class Staging(Conducting):
    """Conducts a copy of data."""

    @property
    def _root(self) -> Path:
        """What the container has as /opt/ml."""
        return places.LOCAL / "staging" / self._state.name

    @property
    def _container(self) -> str:
        return f"mask-rcnn-data-{self._state.name}"

    def run(self) -> None:
        if self._state.is_final:
            return
        shipping = self._shipping()
        try:
            self._conduct()
        except NodeError as error:
            self._end("failed", FAILED, str(error))
        except (OSError, LeaseLost, Leaving):
            # The unit tries again, or another head has it.
            raise
        except Exception as error:
            # A mistake of ours: once is enough.
            self.say(traceback.format_exc())
            self._end("failed", FAILED, f"the conductor failed: {type(error).__name__}: {error}")
        finally:
            shipping.finish()
            shutil.rmtree(self._root, ignore_errors=True)

    def _conduct(self) -> None:
        request = parse_staging(read_object(self._run.request))
        state = self._state
        state.round += 1
        state.restarts = state.round - 1
        state.started = state.started or now()
        state.hosts = [{"address": "head", "instance_id": self._instance_id, "state": "running"}]
        self._change("running", "fetches the image" if request.image else None)
        write_documents(self._root, {"hyperparameters": dict(request.hyperparameters)})
        process = self._start(request)
        relay = threading.Thread(target=self._relay, args=(process,), daemon=True)
        relay.start()
        self._change("running", None)
        try:
            why = self._wait(process, request.max_run_s)
        finally:
            self._clear(process)
        relay.join(5)
        self._judge(process.wait(), why)

    def _start(self, request: StagingRequest) -> subprocess.Popen[bytes]:
        self._remove()
        if request.image is None:
            command, environment = self._bare(request)
        else:
            engine.pull(request.image)
            command, environment = self._in_image(request, request.image), dict(os.environ)
        self.say(f"runs {' '.join(request.arguments)}")
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _in_image(self, request: StagingRequest, image: str) -> list[str]:
        config = self._config
        shared = [config.efs.mount, *([config.fsx.mount] if config.fsx else [])]
        return [
            *(engine.engine(), "run", "--rm", "--name", self._container),
            # The instance's role is asked for at an address that a bridge is one hop too far from.
            *("--network", "host", "--env", "AWS_REGION", "--env", "AWS_DEFAULT_REGION"),
            *("--volume", f"{self._root}:/opt/ml"),
            *(word for folder in shared for word in ("--volume", f"{folder}:{folder}")),
            *(image, *request.arguments),
        ]

    def _bare(self, request: StagingRequest) -> tuple[list[str], dict[str, str]]:
        programs = places.HOME / "venv" / "bin"
        environment = {
            **os.environ,
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(places.HOME / "src"),
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "MASK_RCNN_ML_ROOT": str(self._root),
            "AWS_REGION": self._config.region,
        }
        return [
            str(programs / "python"),
            str(places.HOME / "entrypoint"),
            *request.arguments,
        ], environment

    def _wait(self, process: subprocess.Popen[bytes], max_run_s: int) -> str | None:
        """Return why the copy was stopped; None where it ended by itself."""
        why: str | None = None
        last = time.monotonic()
        kill_at = float("inf")
        while process.poll() is None:
            time.sleep(LOOK_S)
            moment = time.monotonic()
            self._state.ran_s += moment - last
            last = moment
            self._lease.renew()
            if why is None and (why := self._wish(max_run_s)):
                self.say(f"stops: {why}")
                self._change("stopping", why)
                process.send_signal(signal.SIGTERM)
                kill_at = moment + GRACE_S
            if moment > kill_at:
                self._clear(process)
        return why

    def _wish(self, max_run_s: int) -> str | None:
        if self._leaving.is_set():
            return "the head shuts down"
        if self._run.stop.exists():
            return "as asked"
        if self._state.ran_s > max_run_s:
            return f"its time limit, {max_run_s} s"
        return None

    def _judge(self, code: int, why: str | None) -> None:
        if code == 0:
            self._end("completed", 0, "completed")
        elif self._leaving.is_set():
            self._change("waiting", "the head shuts down; the copy goes on when there is one again")
            raise Leaving
        elif why is not None:
            self._end("stopped", STOPPED, why)
        else:
            reason = read_failure(self._root) or f"the copy {exit_text(code)}"
            self._end("failed", code if code > 0 else FAILED, reason)

    def _clear(self, process: subprocess.Popen[bytes]) -> None:
        self._remove()
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _remove(self) -> None:
        """Take away the container, also that of a conductor that was killed."""
        with suppress(NodeError):
            engine.remove(self._container)

    def _relay(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._output.line(line.decode("utf-8", "replace").rstrip("\r\n"))

    def _end(self, name: str, code: int, reason: str) -> None:
        self._state.exit_code = code
        self.say(f"{name}: {reason}")
        self._change(name, reason)
