"""Removes what a run made: containers, network, folder. However the run ended.

A process of its own does it, which waits for the launcher to end: by an exit, an error, or a
`kill -9`, after which the launcher itself could do nothing. Containers that still run then are
stopped as SageMaker stops them, so that they can save a checkpoint. What a crash of the machine
left, the next run removes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from training.container_engine import Engine
from training.platforms.sagemaker.containers.command import LABEL, NETWORK_PREFIX
from training.platforms.sagemaker.containers.mark import Mark

GRACE_S = 120
"""Between SIGTERM and SIGKILL, as SageMaker has it (StopTrainingJob of its API reference)."""


def remove(engine: Engine, mark: Mark, folder: Path, image: str | None) -> None:
    """Remove everything of one run.

    Args:
        engine: Where its containers are.
        mark: Its mark.
        folder: Its folder, which goes with all that is in it.
        image: An image with `rm`, for files that belong to the containers' root.
    """
    found = engine.ask("ps", "--all", "--quiet", "--filter", f"label={LABEL}={mark.text}")
    if containers := found.stdout.split():
        _call(engine, "stop", "--time", str(GRACE_S), *containers)
        _call(engine, "rm", "--force", *containers)
    network = f"{NETWORK_PREFIX}{mark.text}"
    if network in engine.ask("network", "ls", "--format", "{{.Name}}").stdout.split():
        _call(engine, "network", "rm", network)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists() and image is not None:
        # docker's daemon is root, and so are the files of its containers; the user is not.
        _call(
            engine,
            *("run", "--rm", "--network", "none", "--volume", f"{folder}:/folder"),
            *("--entrypoint", "find", image, "/folder", "-mindepth", "1", "-delete"),
        )
        shutil.rmtree(folder, ignore_errors=True)


def _call(engine: Engine, *words: str) -> None:
    """Run a command whose failure changes nothing: what it removes may be gone already."""
    subprocess.run(
        engine.argv(*words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def sweep(engine: Engine, root: Path) -> list[str]:
    """Remove what runs have left whose launcher is dead; return their marks.

    Args:
        root: Holds a folder for each run, of the name of its mark.
    """
    listed = engine.ask("network", "ls", "--filter", f"label={LABEL}", "--format", "{{.Name}}")
    names = [name for name in listed.stdout.split() if name.startswith(NETWORK_PREFIX)]
    texts = {name.removeprefix(NETWORK_PREFIX) for name in names}
    if root.is_dir():
        texts |= {entry.name for entry in root.iterdir()}
    dead = sorted(text for text in texts if Mark(text).is_dead)
    for text in dead:
        remove(engine, Mark(text), root / text, None)
    return dead


@contextmanager
def cleaned_up(engine: Engine, mark: Mark, folder: Path, image: str) -> Iterator[None]:
    """Remove everything of a run at the end, even if this process is killed."""
    order = {"engine": asdict(engine), "mark": mark.text, "folder": str(folder), "image": image}
    project = str(Path(__file__).resolve().parents[4])
    cleaner = subprocess.Popen(
        [sys.executable, "-m", __name__, json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": project},
        start_new_session=True,  # Ctrl-C reaches the launcher only
    )
    try:
        yield
    finally:
        assert cleaner.stdin is not None
        cleaner.stdin.close()
        cleaner.wait()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    order = json.loads(sys.argv[1])
    sys.stdin.buffer.read()  # ends when the launcher does
    fields = order["engine"]
    engine = Engine(fields["name"], fields["program"], tuple(fields["options"]))
    remove(engine, Mark(order["mark"]), Path(order["folder"]), order["image"])


if __name__ == "__main__":
    main()
