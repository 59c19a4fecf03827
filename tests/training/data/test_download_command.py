"""`python -m training.data download` as a user runs it, against a server on this machine."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.training.data.download_sets import (
    files_below,
    item_of,
    pictures,
    require_complete,
    zip_of,
)
from tests.training.data.faulty_server import Fault, FaultyServer, Request, serving
from training.data.commands.download import download
from training.errors import UsageError

PROJECT = Path(__file__).resolve().parents[3]
PICTURES = pictures()
ZIP = zip_of(PICTURES)
NAME = "train2017.zip"

DRIVER = """
import sys
from pathlib import Path
from tests.training.data.download_sets import FREQUENT, fetch
from training.data.download.catalogue import Item
from training.cli import show_error
from training.errors import TrainingError
try:
    fetch(Item.model_validate_json(sys.argv[1]), Path(sys.argv[2]), grain=FREQUENT)
except TrainingError as error:
    show_error(error)
    sys.exit(error.exit_code)
"""
"""The library with small pieces and frequent notes, so that two megabytes have many of them."""


class Shop:
    """A server with one zip, and a catalogue that names it."""

    def __init__(self, server: FaultyServer, folder: Path) -> None:
        self.server = server
        self.root = folder / "set"
        self.item = item_of(ZIP, [f"{server.address}/{NAME}"])
        self.catalogue = folder / "catalogue.yaml"
        self.write_catalogue(self.item.addresses[0])

    def write_catalogue(self, address: str) -> None:
        fields = self.item.model_dump(mode="json", exclude={"key"})
        document = {"items": {"train": {**fields, "addresses": [address]}}}
        self.catalogue.write_text(yaml.safe_dump(document))

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        given = ("--catalogue", str(self.catalogue), "--what", "train", *arguments)
        return spawn("-m", "training.data", "download", str(self.root), *given, **options)

    def run(self, *arguments: str, **options: Any) -> tuple[int, str, str]:
        process = self.start(*arguments, **options)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stdout, stderr

    def start_driver(self) -> subprocess.Popen[str]:
        return spawn("-c", DRIVER, self.item.model_dump_json(), str(self.root))

    def wait_for_bytes(self, count: int) -> None:
        deadline = time.monotonic() + 30
        while self.server.sent_bytes < count:
            assert time.monotonic() < deadline
            time.sleep(0.005)


def spawn(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with serving({NAME: ZIP}) as server:
        yield Shop(server, tmp_path)


def test_a_download_says_what_where_how_much_and_how_it_was_verified(shop: Shop) -> None:
    code, stdout, stderr = shop.run("--format", "json")
    assert (code, stderr) == (0, "")
    summary = json.loads(stdout)
    require_complete(shop.root, PICTURES)
    total = sum(map(len, PICTURES.values()))
    assert (summary["files"], summary["bytes"], summary["fetched_bytes"]) == (11, total, len(ZIP))
    (item,) = summary["items"]
    assert item["sha256"] == shop.item.sha256
    assert item["address"] == shop.item.addresses[0]
    assert item["verified"] == ["size", "number of files", "CRC of each file", "sha256"]
    code, stdout, stderr = shop.run()
    assert (code, stderr) == (0, "")
    assert "train: 11 files in train2017, 1.8 MB; was there; verified by size, sha256" in stdout
    assert f"{shop.root}: 11 files, 1.8 MB, verified; 0 bytes fetched in 0.0 s" in stdout


def test_a_mirror_goes_first(shop: Shop) -> None:
    shop.write_catalogue("http://127.0.0.1:9/nothing.zip")
    code, stdout, _ = shop.run("--mirror", f"{shop.server.address}/")
    assert code == 0
    assert f"from {shop.server.address}/{NAME}" in stdout
    require_complete(shop.root, PICTURES)


def test_a_dry_run_shows_all_and_does_nothing(shop: Shop) -> None:
    code, stdout, stderr = shop.run("--dry-run", "--mirror", "https://mirror.example/coco")
    assert (code, stderr) == (0, "")
    assert "train: train2017.zip, 1.8 MB to fetch" in stdout
    assert f"from https://mirror.example/coco/{NAME}\n" in stdout
    assert "(plain http: the checksum is what can be trusted)" in stdout
    assert "needs 3.6 MB of space" in stdout
    code, stdout, _ = shop.run("--dry-run", "--format", "json")
    plan = json.loads(stdout)
    assert code == 0
    assert plan["items"][0]["fetch_bytes"] == len(ZIP)
    assert not shop.root.exists()
    assert shop.server.requests == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"what": ["moon"]}, "--what moon: unknown. Known are: train"),
        ({"mirror": ["mirror.example"]}, "--mirror mirror.example is no address of the web"),
        ({"mirror": ["https://me:word@mirror.example"]}, "name or password"),
        ({"catalogue": Path("absent.yaml")}, "--catalogue absent.yaml: cannot be read"),
    ],
)
def test_wrong_usage_is_one_error_before_anything_is_done(
    options: dict[str, Any], says: str, shop: Shop
) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        download(**{"folder": shop.root, "catalogue": shop.catalogue, "what": ["train"], **options})
    assert not shop.root.exists()
    assert shop.server.requests == []


def test_a_source_that_fails_is_exit_code_1(shop: Shop) -> None:
    shop.server.decide = lambda _: Fault(status=404)
    code, stdout, stderr = shop.run()
    assert (code, stdout) == (1, "")
    assert stderr == (
        f"error: {NAME} cannot be downloaded. {shop.item.addresses[0]}: it answers 404 Not Found. "
        "Run the same command again later, which goes on with what is there, or name a copy of it "
        "with --mirror\n"
    )


def test_ctrl_c_leaves_what_came_and_is_exit_code_130(shop: Shop) -> None:
    shop.server.decide = lambda _: Fault(seconds_a_chunk=0.1)
    process = shop.start("--connections", "2")
    shop.wait_for_bytes(600_000)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert stderr == (
        f"stopped: {shop.root}: what was downloaded is kept; run the same command again to go on\n"
    )
    assert not (shop.root / "train2017").exists()
    shop.server.decide = lambda _: None
    code, stdout, _ = shop.run("--format", "json")
    assert code == 0
    assert json.loads(stdout)["fetched_bytes"] < len(ZIP) - 300_000
    require_complete(shop.root, PICTURES)


def test_of_two_at_once_the_second_says_so_and_ends(shop: Shop) -> None:
    second_is_over = threading.Event()

    def wait(request: Request) -> None:
        if request.number > 1:
            second_is_over.wait(25)

    shop.server.decide = wait
    first = shop.start()
    while len(shop.server.requests) < 2:
        time.sleep(0.01)
    code, _, stderr = shop.run()
    second_is_over.set()
    assert code == 2
    assert "another download or copy into this folder is running; wait for it" in stderr
    first.communicate(timeout=60)
    assert first.returncode == 0
    require_complete(shop.root, PICTURES)


def test_a_file_size_limit_is_one_error(shop: Shop) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))

    code, stdout, stderr = shop.run(preexec_fn=limit)
    assert (code, stdout) == (1, "")
    assert "a file may not be so large here (ulimit -f, or the file system)" in stderr
    assert "Traceback" not in stderr
    assert shop.run()[0] == 0
    require_complete(shop.root, PICTURES)


def kill_again_and_again(shop: Shop, kills: int, seed: int) -> None:
    """Kill a download at random points, each time after it went on where the last one was."""
    randomness = random.Random(seed)

    def decide(request: Request) -> Fault:
        drop = randomness.randrange(1000, 60_000) if request.number % 7 == 0 else None
        return Fault(seconds_a_chunk=0.01, chunk_bytes=32_000, drop_after=drop)

    shop.server.decide = decide
    for number in range(kills):
        spoil_if_complete(shop.root, randomness)
        before, goal = (
            shop.server.sent_bytes,
            randomness.randrange(0, 2 * len(ZIP) // (1 + number % 3)),
        )
        process = shop.start_driver()
        while process.poll() is None and shop.server.sent_bytes < before + goal:
            time.sleep(0.002)
        time.sleep(randomness.uniform(0, 0.05))
        process.kill()
        process.communicate()
        found = files_below(shop.root)
        final = {path: data for path, data in found.items() if not path.startswith(".partial/")}
        final.pop("manifest.json", None)
        assert final.items() <= PICTURES.items(), "a file under a final name is whole and right"
    process = shop.start_driver()
    _, stderr = process.communicate(timeout=120)
    assert (process.returncode, stderr) == (0, "")
    require_complete(shop.root, PICTURES)


def spoil_if_complete(root: Path, randomness: random.Random) -> None:
    """Give the next run something to do: all of it, or a repair."""
    if not (root / "manifest.json").exists():
        return
    for name in randomness.sample(sorted(PICTURES), 4):
        (root / name).unlink(missing_ok=True)
    if randomness.random() < 0.5:
        shutil.rmtree(root)


def test_three_kills_leave_nothing_half_and_nothing_lost(shop: Shop) -> None:
    kill_again_and_again(shop, kills=3, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [2, 3])
def test_twenty_kills_leave_nothing_half_and_nothing_lost(seed: int, shop: Shop) -> None:
    kill_again_and_again(shop, kills=20, seed=seed)
