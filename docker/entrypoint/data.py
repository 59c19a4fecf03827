"""`data`: runs `python -m training.data ARGUMENTS` in this container, inside the VPC.

The launcher has sent it here (training/data/on/), since nobody outside reaches the file systems. In
hyperparameters.json are

    outputs     what `cdk deploy --outputs-file` would have written, as JSON
    mounts      the id of each file system and the folder that it is mounted at, as JSON
    region      of AWS
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from typing import Deque, Dict, List

from .errors import EntrypointError
from .failure import write_failure
from .hyperparameters import read_hyperparameters
from .paths import MlPaths
from .processes import exit_text
from .signals import StopSignals

_POLL_S = 0.2
_SHOWN_LINES = 3
"""Of what it said at last, in the failure."""
_MOUNTS = "mask-rcnn-mounts"
"""A folder that has each file system under its id; the launcher knows the name in paths."""
_RESULT = b"mask-rcnn-result: "
"""Begins the line with the command's result, where that is JSON: logs are kept line by line, and
training/data/on/answer.py looks for it."""


def data(arguments: List[str], paths: MlPaths) -> int:
    """Run the command to its end and return its exit code.

    Raises:
        EntrypointError: What the launcher passes is not there.
    """
    stop = StopSignals()
    told = read_hyperparameters(paths.hyperparameters)
    folder = tempfile.mkdtemp(prefix="mask-rcnn-data-")
    try:
        argv = [sys.executable, "-m", "training.data", *arguments]
        if "outputs" in told and arguments[:1] in (["stage"], ["verify"]):
            argv += ["--outputs-file", _write_outputs(folder, told["outputs"])]
        mounts = _link_mounts(os.path.join(folder, _MOUNTS), told.get("mounts", "{}"))
        given = {"AWS_REGION": told["region"]} if "region" in told else {}
        return _run(argv, {**given, **os.environ, "MASK_RCNN_MOUNTS": mounts}, stop, paths)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(argv: List[str], environ: Dict[str, str], stop: StopSignals, paths: MlPaths) -> int:
    last: Deque[str] = deque(maxlen=_SHOWN_LINES)
    with tempfile.TemporaryFile() as result:
        process = subprocess.Popen(
            argv, env=environ, stdin=subprocess.DEVNULL, stdout=result, stderr=subprocess.PIPE
        )
        relay = threading.Thread(target=_relay, args=(process, last), daemon=True)
        relay.start()
        code = _wait(process, stop)
        relay.join(5)
        result.seek(0)
        _pass_on(result.read())
    if code != 0:
        write_failure(paths.failure, "\n".join(last) or exit_text(code))
    return code if code >= 0 else 128 - code


def _wait(process: "subprocess.Popen[bytes]", stop: StopSignals) -> int:
    seen = 0
    while True:
        try:
            return process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            if stop.count > seen:
                seen = stop.count
                # As Ctrl-C: what was copied stays, and the next run goes on from there.
                process.send_signal(signal.SIGINT)


def _pass_on(result: bytes) -> None:
    """Print what the command printed: JSON in one line, anything else as it is."""
    try:
        result = _RESULT + json.dumps(json.loads(result.decode("utf-8"))).encode() + b"\n"
    except ValueError:
        pass
    sys.stdout.buffer.write(result)
    sys.stdout.buffer.flush()


def _relay(process: "subprocess.Popen[bytes]", last: Deque[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        text = line.decode("utf-8", "replace")
        if text.strip():
            last.append(text.rstrip())
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            # Nobody reads any more; the copy goes on.
            continue


def _write_outputs(folder: str, text: str) -> str:
    path = os.path.join(folder, "outputs.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _link_mounts(folder: str, text: str) -> str:
    """Make the folder that has each file system under its id; return its path."""
    try:
        mounts = json.loads(text)
        items = [(str(name), str(path)) for name, path in mounts.items()]
    except (AttributeError, ValueError):
        raise EntrypointError(
            f"hyperparameters.json: mounts: {text[:80]}; expected an object of ids and folders"
        )
    os.mkdir(folder)
    for name, path in items:
        if not os.path.isdir(path):
            raise EntrypointError(f"{path}: file system {name} is not mounted there")
        os.symlink(path, os.path.join(folder, os.path.basename(name)))
    return folder
