"""Running one program of an image."""

from __future__ import annotations

import subprocess

from training.container_engine import Engine


def ask(engine: Engine, image: str, *words: str) -> str:
    entry = ("--entrypoint", words[0])
    done = subprocess.run(
        engine.argv("run", "--rm", *engine.limits(), *entry, image, *words[1:]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
