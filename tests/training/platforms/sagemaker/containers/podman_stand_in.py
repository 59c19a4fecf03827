"""Stands in for podman: records each call, and runs a host's program in place of its container.

Started as `podman WORDS...`. The folder STAND_IN holds its state: `calls.jsonl`, the list `images`,
a folder for the containers that run and one for the networks. `run` starts `host.py` of that
folder, in which a test says what a container does; the folders that are mounted below /opt/ml are
those of the variable ML, a JSON object.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STATE = Path(os.environ["STAND_IN"])
CONTAINERS, NETWORKS = STATE / "containers", STATE / "networks"


def main(words: list[str]) -> int:
    for folder in (CONTAINERS, NETWORKS):
        folder.mkdir(exist_ok=True)
    with (STATE / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    while words[0].startswith("--"):  # options before the command have a value each
        words = words[2:]
    name = "_".join(words[:2] if words[0] in {"network", "image"} else words[:1])
    return int(globals()[name](words) or 0)


def version(_words: list[str]) -> None:
    sys.stdout.write("4.3.1\n")


def image_inspect(words: list[str]) -> int:
    return 0 if words[-1] in (STATE / "images").read_text().split() else 1


def network_create(words: list[str]) -> None:
    (NETWORKS / words[-1]).write_text(values(words, "--label")[0])


def network_ls(_words: list[str]) -> None:
    sys.stdout.writelines(f"{path.name}\n" for path in NETWORKS.iterdir())


def network_rm(words: list[str]) -> None:
    (NETWORKS / words[-1]).unlink()


def run(words: list[str]) -> int:
    mounts = [volume.rsplit(":", 2) for volume in values(words, "--volume")]
    own = dict(pair.split("=", 1) for pair in values(words, "--env"))
    folders = {target: folder for folder, target, _ in mounts}
    process = subprocess.Popen(
        [sys.executable, str(STATE / "host.py")],
        env={**os.environ, **own, "ML": json.dumps(folders)},
    )
    record = CONTAINERS / values(words, "--name")[0]
    record.write_text(json.dumps({"pid": process.pid, "label": values(words, "--label")[0]}))
    code = process.wait()
    record.unlink(missing_ok=True)
    return code if code >= 0 else 128 - code


def stop(words: list[str]) -> int:
    return signal_all(words[3:], signal.SIGTERM)


def kill(words: list[str]) -> int:
    return signal_all(words[1:], signal.SIGKILL)


def rm(words: list[str]) -> int:
    return signal_all(words[2:], signal.SIGKILL)


def ps(words: list[str]) -> None:
    wanted = values(words, "--filter")[0].removeprefix("label=")
    for record in CONTAINERS.iterdir():
        if json.loads(record.read_text())["label"] == wanted:
            sys.stdout.write(f"{record.name}\n")


def signal_all(names: list[str], number: int) -> int:
    missing = 0
    for name in names:
        try:
            os.kill(json.loads((CONTAINERS / name).read_text())["pid"], number)
        except (FileNotFoundError, ProcessLookupError):
            missing = 1
            continue
        until = time.monotonic() + 20
        while (CONTAINERS / name).exists() and time.monotonic() < until:
            time.sleep(0.02)
    return missing


def values(words: list[str], option: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == option]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
