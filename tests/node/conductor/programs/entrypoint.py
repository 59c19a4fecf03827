"""Stands for the entry point: runs the program that the hyperparameter `program` is.

It has `say`, `address`, `hosts`, `is_head`, `round_`, `log` (a Path), `step(n)`, which notes a
step, `fail(text)`, and `wait(s)`, which leaves with 75 and a checkpoint at SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

root = Path(os.environ["MASK_RCNN_ML_ROOT"])
resources = json.loads((root / "input/config/resourceconfig.json").read_text())
address, hosts = resources["current_host"], resources["hosts"]
is_head = hosts[0] == address
round_ = int(os.environ["MASK_RCNN_MARK"].split("/")[1])
log = Path(os.environ["MASK_RCNN_LOG"])
stops: list[int] = []
signal.signal(signal.SIGTERM, lambda number, _frame: stops.append(number))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def step(number: int) -> None:
    if is_head:
        with (log / "metrics.jsonl").open("a") as file:
            file.write(json.dumps({"kind": "train", "step": number}) + "\n")


def fail(text: str) -> None:
    (root / "output" / "failure").write_text(text)
    sys.exit(1)


def wait(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if stops:
            (log / "checkpoints").mkdir(exist_ok=True)
            (log / "checkpoints" / "step-00000001.pt").touch()
            say("saved")
            sys.exit(75)
        time.sleep(0.05)


say(f"round {round_} of {address} among {','.join(hosts)}")
exec(json.loads((root / "input/config/hyperparameters.json").read_text())["program"])
if is_head:
    (log / "model.pt").write_text("model")
    (log / "report.html").write_text("report")
