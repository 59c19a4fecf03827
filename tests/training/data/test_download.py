"""Downloads from a server on this machine that misbehaves."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import ssl
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.training.data.download_sets import (
    QUICK,
    SAMPLE,
    SMALL,
    Notes,
    fetch,
    files_below,
    item_of,
    pictures,
    require_complete,
    zip_of,
)
from tests.training.data.faulty_server import Decide, Fault, FaultyServer, Request, serving
from training.data.check import check_dataset
from training.data.download.catalogue import Contents, Item
from training.data.download.origin import Origin
from training.data.download.partial import Partial
from training.data.download.plan import Task, folder_of
from training.data.download.run import Done, Settings, download
from training.data.folder import Folder
from training.data.side import expected_digests
from training.data.stage import list_source
from training.errors import JobFailed, PreflightError, UsageError
from training.layout import TrainChannel

PICTURES = pictures()
ZIP = zip_of(PICTURES)
NAME = "train2017.zip"


def known(server: FaultyServer) -> Item:
    return item_of(ZIP, [f"{server.address}/{NAME}"])


def sometimes(fault: Fault, *, every: int = 2, first: int = 2, last: int = 12) -> Decide:
    def decide(request: Request) -> Fault | None:
        is_hit = first <= request.number <= last and request.number % every == 0
        return fault if is_hit else None

    return decide


def drops(request: Request) -> Fault:
    return Fault(drop_after=random.Random(request.number).randrange(0, 60_000))


def redirects(request: Request) -> Fault | None:
    if request.path == NAME:
        return Fault(status=302, headers={"Location": "/elsewhere/x?signed=1"})
    return None


HTML = Fault(status=200, body=b"<html>Sorry", headers={"Content-Type": "text/html; charset=utf-8"})
SOON = format_datetime(datetime.now(UTC) - timedelta(seconds=1))

PASSING: dict[str, Decide] = {
    "nothing": lambda _: None,
    "dropped at random bytes": drops,
    "slow": lambda _: Fault(seconds_a_chunk=0.01, chunk_bytes=16_000),
    "a web page with code 200": sometimes(HTML),
    "503 with Retry-After": sometimes(Fault(status=503, headers={"Retry-After": "0"})),
    "429 with a date": sometimes(Fault(status=429, headers={"Retry-After": SOON})),
    "500": sometimes(Fault(status=500)),
    "compressed": sometimes(Fault(headers={"Content-Encoding": "gzip"})),
    "another range": sometimes(Fault(headers={"Content-Range": f"bytes 7-9/{len(ZIP)}"})),
    "no range": sometimes(Fault(headers={"Content-Range": "bytes */*"})),
    "a length too long": sometimes(Fault(headers={"Content-Length": "99999999"})),
    "a length too short": sometimes(Fault(headers={"Content-Length": "10"})),
    "silence": sometimes(Fault(seconds_a_chunk=0.9, chunk_bytes=1000), every=8),
    "ranges ignored": lambda _: Fault(ignores_range=True),
    "ranges ignored now and then": sometimes(Fault(ignores_range=True), every=5),
    "ranges ignored and dropped": lambda request: Fault(
        ignores_range=True, drop_after=200_000 * request.number
    ),
    "no length": lambda _: Fault(ignores_range=True, is_chunked=True, headers={}),
    "redirected": redirects,
}


@pytest.mark.parametrize("decide", PASSING.values(), ids=PASSING.keys())
def test_a_download_completes_whatever_passes(decide: Decide, tmp_path: Path) -> None:
    with serving({NAME: ZIP, "elsewhere/x": ZIP}, decide) as server:
        done = fetch(known(server), tmp_path)
    require_complete(tmp_path, PICTURES)
    assert (done.task, done.files) == (Task.DOWNLOAD, 11)
    assert done.sha256 == hashlib.sha256(ZIP).hexdigest()
    assert done.verified == ("size", "number of files", "CRC of each file", "sha256")
    assert done.total_bytes == sum(map(len, PICTURES.values()))


FAILING: dict[str, tuple[Decide, str]] = {
    "html": (lambda _: HTML, r"it answers with a web page, not with the file \(4 times\)"),
    "404": (lambda _: Fault(status=404), "it answers 404 Not Found"),
    "403": (lambda _: Fault(status=403), "it answers 403 Forbidden"),
    "503": (lambda _: Fault(status=503), r"it answers 503 Service Unavailable \(4 times\)"),
    "an hour": (
        lambda _: Fault(status=503, headers={"Retry-After": "3600"}),
        "asks to wait 3,600 seconds",
    ),
    "circle": (lambda _: Fault(status=302, headers={"Location": "/a"}), "leads on more than 5"),
    "file": (
        lambda _: Fault(status=302, headers={"Location": "file:///etc/passwd"}),
        "no address of the web",
    ),
    "always dropped": (
        lambda request: Fault(drop_after=0 if request.number > 1 else None),
        "early .* in a row",
    ),
    "a byte now and then": (
        lambda request: Fault(seconds_a_chunk=0.05, chunk_bytes=20) if request.number > 1 else None,
        r"only \d+ bytes came in 1 seconds",
    ),
    "always silent": (
        lambda request: Fault(seconds_a_chunk=2, chunk_bytes=1) if request.number > 1 else None,
        r"timed out.*times in a row",
    ),
}


@pytest.mark.parametrize(("decide", "says"), FAILING.values(), ids=FAILING.keys())
def test_what_does_not_pass_is_one_line_with_address_and_reason(
    decide: Decide, says: str, tmp_path: Path
) -> None:
    is_slow = "timed out" in says or "bytes came" in says
    patience = replace(QUICK, tries=1) if is_slow else QUICK
    with serving({NAME: ZIP}, decide) as server:
        with pytest.raises(JobFailed, match=says) as caught:
            fetch(known(server), tmp_path, patience=patience)
        assert f"{server.address}/{NAME}: " in str(caught.value)
    assert str(caught.value).startswith(f"{NAME} cannot be downloaded. ")
    assert "--mirror" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "object at 0x" not in str(caught.value)
    assert not (tmp_path / "train2017").exists()


def test_a_server_that_is_not_there_is_told_at_once_and_in_the_end(tmp_path: Path) -> None:
    item, notes = item_of(ZIP, ["http://127.0.0.1:9/train2017.zip"]), Notes()
    with pytest.raises(JobFailed, match=r"cannot be reached .*Connection refused"):
        fetch(item, tmp_path, notes)
    (text,) = notes.texts
    assert text.startswith("http://127.0.0.1:9/train2017.zip: cannot be reached (")
    assert text.endswith("; trying again")


@pytest.mark.parametrize("size", [len(ZIP) - 1, len(ZIP) + 1])
def test_another_size_is_refused_before_anything_is_fetched(size: int, tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        item = known(server).model_copy(update={"size": size})
        with pytest.raises(JobFailed, match=f"its file has {len(ZIP):,} bytes; .* has {size:,}"):
            fetch(item, tmp_path)
        assert server.sent_bytes <= 1


def test_another_content_of_the_same_size_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    other = zip_of({**PICTURES, "train2017/000000006818.jpg": b"x" * 10})
    with serving({NAME: other}) as server:
        item = item_of(other, [f"{server.address}/{NAME}"])
        item = item.model_copy(update={"sha256": hashlib.sha256(ZIP).hexdigest()})
        with pytest.raises(JobFailed, match=r"its file has SHA-256 .*; train2017.zip has "):
            fetch(item, tmp_path)
    assert files_below(tmp_path) == {}


def test_addresses_are_tried_in_order_and_bytes_kept_where_a_checksum_proves_them(
    tmp_path: Path,
) -> None:
    def breaks_down(request: Request) -> Fault | None:
        return Fault(status=503) if request.number > 10 else None

    with serving({NAME: ZIP}, breaks_down) as first, serving({NAME: ZIP}) as second:
        item = item_of(ZIP, [f"{first.address}/gone.zip", f"{second.address}/{NAME}"])
        done = fetch(item, tmp_path, mirrors=(first.address,))
        require_complete(tmp_path, PICTURES)
        assert done.address == f"{second.address}/{NAME}"
        assert first.sent_bytes > 200_000
        assert second.sent_bytes <= len(ZIP) - first.sent_bytes + 2 * SMALL.piece_bytes


def test_a_source_that_changes_during_the_download_is_found_and_begun_anew(tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:

        def change(request: Request) -> Fault | None:
            if request.number == 6:
                server.etags[NAME] = '"another"'
            return None

        server.etags[NAME] = '"one"'
        server.decide = change
        fetch(known(server), tmp_path)
        require_complete(tmp_path, PICTURES)
        assert server.sent_bytes > len(ZIP)
        assert {'"one"', '"another"'} <= {
            request.headers.get("If-Range") for request in server.requests
        }


@pytest.mark.parametrize("heeds_if_range", [True, False])
def test_a_source_that_keeps_changing_is_given_up(heeds_if_range: bool, tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:

        def change(request: Request) -> Fault | None:
            server.etags[NAME] = f'"{request.number}"'
            if not heeds_if_range and "If-Range" in request.headers:
                # A server that does not know If-Range sends the part all the same.
                server.etags[NAME] = request.headers["If-Range"]
                return Fault(headers={"ETag": f'"{request.number}"'})
            return None

        server.decide = change
        with pytest.raises(JobFailed, match="its file changed 3 times while it was downloaded"):
            fetch(known(server), tmp_path)
    assert not (tmp_path / "train2017").exists()


def stop_half_way(server: FaultyServer, root: Path, **settings: object) -> None:
    """Leave a download as a process does that fails in the middle."""

    def fail(request: Request) -> Fault | None:
        return Fault(status=404) if request.number > 12 else None

    server.decide = fail
    with pytest.raises(JobFailed, match="404"):
        fetch(known(server), root, **settings)
    server.decide = lambda _: None
    with server.lock:
        server.sent_bytes = 0


def test_a_stopped_download_goes_on_and_fetches_only_the_rest(tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        stop_half_way(server, tmp_path)
        assert not (tmp_path / "train2017").exists()
        left = Partial.left_by_earlier_run(folder_of(tmp_path, known(server))).noted
        assert left > 300_000
        done = fetch(known(server), tmp_path)
        require_complete(tmp_path, PICTURES)
        assert done.fetched_bytes == len(ZIP) - left
        assert server.sent_bytes <= len(ZIP) - left + 1


def test_a_source_that_changed_between_two_runs_is_not_mixed(tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        stop_half_way(server, tmp_path)
        server.etags[NAME] = '"new"'
        done = fetch(known(server), tmp_path)
        require_complete(tmp_path, PICTURES)
        assert done.fetched_bytes == len(ZIP)


@pytest.mark.parametrize("damage", ["archive", "files", "note", "size"])
def test_what_a_crash_damaged_is_found_and_fetched_again(damage: str, tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        stop_half_way(server, tmp_path)
        folder = folder_of(tmp_path, known(server))
        if damage == "archive":
            with (folder / "archive").open("r+b") as file:
                file.seek(100)
                file.write(bytes(2000))
        elif damage == "files":
            for path in (folder / "files").iterdir():
                path.write_bytes(b"half")
        elif damage == "note":
            (folder / "note.json").write_bytes(b'{"origin": {"size"')
        else:
            os.truncate(folder / "archive", 100)
        fetch(known(server), tmp_path)
    require_complete(tmp_path, PICTURES)


def test_bytes_that_are_there_are_never_written_again(tmp_path: Path) -> None:
    partial = Partial(tmp_path / "x")
    partial.adopt(Origin(size=6, address="http://x", validator=None, sha256=None))
    round_ = partial.begin_round()
    assert partial.write(round_, 2, b"cd")
    assert partial.write(round_, 0, b"ABCDEF")
    assert partial.read(0, 6) == b"ABcdEF"
    partial.forget(2, 4)
    assert partial.write(round_, 0, b"UVWXYZ")
    assert partial.read(0, 6) == b"ABWXEF"
    assert not partial.write(round_ - 1, 0, b"------")
    partial.close()


def test_a_complete_download_is_verified_without_the_network(tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        fetch(known(server), tmp_path)
        item, before = known(server), len(server.requests)
        done = fetch(item, tmp_path)
        assert len(server.requests) == before
    assert (done.task, done.fetched_bytes, done.address) == (Task.NOTHING, 0, None)
    require_complete(tmp_path, PICTURES)


def test_pictures_left_out_are_one_finding_and_only_they_are_fetched(tmp_path: Path) -> None:
    """facebookresearch/maskrcnn-benchmark#73: a resumed download left 398 pictures out."""
    with serving({NAME: ZIP}) as server:
        fetch(known(server), tmp_path)
        names = sorted(PICTURES)
        for name in names[:4]:
            (tmp_path / name).unlink()
        (tmp_path / names[4]).write_bytes(PICTURES[names[4]][:-1] + b"x")
        (tmp_path / names[5]).write_bytes(b"")
        with server.lock:
            server.sent_bytes = 0
        notes = Notes()
        done = fetch(known(server), tmp_path, notes)
        require_complete(tmp_path, PICTURES)
        wrong = sum(len(PICTURES[name]) for name in names[:6])
        assert server.sent_bytes < wrong + 80_000
    assert notes.texts == [
        "train: 6 of 11 files are missing or damaged, and are fetched again: "
        f"{names[0]!r}, {names[1]!r}, {names[2]!r} and 3 more"
    ]
    assert (done.task, done.files) == (Task.REPAIR, 11)


def test_a_zip_that_lacks_pictures_is_refused(tmp_path: Path) -> None:
    data = zip_of(dict(list(PICTURES.items())[:-3]))
    with serving({NAME: data}) as server:
        item = item_of(data, [f"{server.address}/{NAME}"])
        with pytest.raises(JobFailed, match=r"it holds 8 files train2017/\*.jpg, not 11"):
            fetch(item, tmp_path)


def test_pictures_unpacked_by_hand_are_kept_where_right_and_replaced_where_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "train2017").mkdir()
    right, half = sorted(PICTURES)[:2]
    (tmp_path / right).write_bytes(PICTURES[right])
    (tmp_path / half).write_bytes(PICTURES[half][:100])
    inode = (tmp_path / right).stat().st_ino
    with serving({NAME: ZIP}) as server:
        fetch(known(server), tmp_path)
    require_complete(tmp_path, PICTURES)
    assert (tmp_path / right).stat().st_ino == inode


def test_what_an_earlier_run_left_half_does_not_replace_what_is_right(tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        stop_half_way(server, tmp_path)
        files = folder_of(tmp_path, known(server)) / "files"
        for name, data in PICTURES.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(data)
            half = bytes(len(data)) if name < sorted(PICTURES)[5] else data[:100]
            (files / Path(name).name).write_bytes(half)
        fetch(known(server), tmp_path)
    require_complete(tmp_path, PICTURES)


def test_the_manifest_is_the_one_of_stage_and_other_files_stay(tmp_path: Path) -> None:
    root = tmp_path / "set"
    (root / "annotations").mkdir(parents=True)
    source = SAMPLE / "annotations" / "instances_train2017.json"
    (root / "annotations" / source.name).write_bytes(source.read_bytes())
    with serving({NAME: ZIP}) as server:
        fetch(known(server), root)
    digests = expected_digests(Folder(root), list_source(Folder(root)))
    assert {path: digest.sha256 for path, digest in digests.items()} == {
        name: hashlib.sha256(data).hexdigest() for name, data in PICTURES.items()
    }
    assert [*check_dataset(TrainChannel(root), ["train2017"])] == []


def test_files_appear_only_when_all_are_verified(tmp_path: Path) -> None:
    seen: list[bool] = []
    with serving({NAME: ZIP}) as server:

        def look(_: Request) -> Fault | None:
            seen.append((tmp_path / "train2017").exists())
            return None

        server.decide = look
        fetch(known(server), tmp_path)
    assert len(seen) > 20
    assert not any(seen)


def test_unpacking_goes_on_while_bytes_still_come(tmp_path: Path) -> None:
    unpacked_at: list[int] = []
    with serving({NAME: ZIP}) as server:
        item = known(server)
        files = folder_of(tmp_path, item) / "files"

        def look(_: Request) -> Fault | None:
            unpacked_at.append(len(list(files.iterdir())) if files.exists() else 0)
            return Fault(seconds_a_chunk=0.02)

        server.decide = look
        fetch(item, tmp_path, connections=2)
    assert any(2 < count < 11 for count in unpacked_at)


def test_a_server_that_takes_few_connections_gets_few(tmp_path: Path) -> None:
    busy = threading.Semaphore(2)

    def refuse_more_than_two(request: Request) -> Fault | None:
        if not busy.acquire(blocking=False):
            return Fault(status=503)
        time.sleep(0.02)
        busy.release()
        return None

    with serving({NAME: ZIP}, refuse_more_than_two) as server:
        fetch(known(server), tmp_path, connections=8)
    require_complete(tmp_path, PICTURES)


class Killed(BaseException):
    """Ends a download as a kill does: nothing of the program runs any more."""


@pytest.mark.parametrize("renames", [0, 1, 6, 10, 11])
def test_a_download_that_ends_while_files_move_to_their_places_goes_on(
    renames: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_ = Path.replace
    done = 0

    def rename(self: Path, target: Path) -> Path:
        nonlocal done
        if "files" in self.parts or self.name == "manifest.json":
            done += 1
            if done > renames:
                raise Killed
        return replace_(self, target)

    with serving({NAME: ZIP}) as server:
        monkeypatch.setattr(Path, "replace", rename)
        with pytest.raises(Killed):
            fetch(known(server), tmp_path)
        assert len(files_below(tmp_path / "train2017")) == renames
        assert not (tmp_path / "manifest.json").exists()
        monkeypatch.undo()
        before = len(server.requests)
        fetch(known(server), tmp_path)
        assert len(server.requests) <= before + 1, "the bytes were all here"
    require_complete(tmp_path, PICTURES)


def test_a_second_download_into_the_folder_says_so_and_ends(tmp_path: Path) -> None:
    with serving({NAME: ZIP}, lambda _: Fault(seconds_a_chunk=0.05)) as server:
        item = known(server)
        errors: list[Exception] = []

        def second(request: Request) -> Fault | None:
            if request.number == 5:
                try:
                    fetch(item, tmp_path)
                except UsageError as error:
                    errors.append(error)
            return None

        server.decide = second
        fetch(item, tmp_path)
    assert [str(error) for error in errors] == [
        f"{tmp_path}: another download or copy into this folder is running; wait for it"
    ]
    require_complete(tmp_path, PICTURES)


def test_too_little_space_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.data.download import run
    from training.data.download.space import Free

    monkeypatch.setattr(run, "free_at", lambda _: Free(1_000_000, None))
    with serving({NAME: ZIP}) as server:
        with pytest.raises(PreflightError, match=r"3\.6 MB are needed.*1\.0 MB are free"):
            fetch(known(server), tmp_path)
        assert server.requests == []


def test_a_disk_that_fills_up_is_one_error_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0
    pwrite = os.pwrite

    def full(file: int, data: memoryview, at: int) -> int:
        nonlocal written
        if written > 400_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written += len(data)
        return pwrite(file, data, at)

    monkeypatch.setattr(os, "pwrite", full)
    with serving({NAME: ZIP}) as server:
        with pytest.raises(JobFailed, match=r"no space is left\. What was downloaded is kept"):
            fetch(known(server), tmp_path)
        monkeypatch.undo()
        done = fetch(known(server), tmp_path)
        assert done.fetched_bytes < len(ZIP) - 300_000
    require_complete(tmp_path, PICTURES)


def test_a_place_that_cannot_take_the_files_is_refused_first(tmp_path: Path) -> None:
    with serving({NAME: ZIP}) as server:
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(UsageError, match="a file is where a folder must be"):
            fetch(known(server), tmp_path / "file")
        (tmp_path / "set").mkdir()
        (tmp_path / "other").mkdir()
        (tmp_path / "set" / "train2017").symlink_to(tmp_path / "other")
        with pytest.raises(UsageError, match="a link leads out of"):
            fetch(known(server), tmp_path / "set")
        assert server.requests == []


def test_plain_http_without_a_checksum_is_refused_and_the_next_address_is_taken(
    tmp_path: Path,
) -> None:
    with serving({NAME: ZIP}) as server:
        item = known(server).model_copy(update={"sha256": None})
        with pytest.raises(JobFailed, match="plain http is refused, since no checksum"):
            fetch(item, tmp_path)
        assert server.requests == []


@pytest.fixture
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS, and the certificate to trust."""
    from ipaddress import IPv4Address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    encoding = serialization.Encoding.PEM
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(encoding))
    (folder / "key.pem").write_bytes(
        key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context, folder / "certificate.pem"


def weights(server: FaultyServer, data: bytes) -> Item:
    return Item(
        key="weights",
        name="weights.npz",
        size_between=(len(data) - 9, len(data) + 9),
        addresses=(f"{server.address}/weights.npz",),
    )


def test_a_certificate_that_nobody_vouches_for_is_refused(
    tls: tuple[ssl.SSLContext, Path], tmp_path: Path
) -> None:
    with serving({"weights.npz": ZIP}, tls=tls[0]) as server:
        with pytest.raises(JobFailed, match=r"certificate cannot be verified .*SSL_CERT_FILE"):
            fetch(weights(server, ZIP), tmp_path)
        assert server.requests == []


def test_https_that_leads_to_plain_http_is_refused(
    tls: tuple[ssl.SSLContext, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    away = Fault(status=302, headers={"Location": "http://127.0.0.1:9/x"})
    with (
        serving({}, lambda _: away, tls=tls[0]) as server,
        pytest.raises(JobFailed, match="from https to plain http"),
    ):
        fetch(weights(server, ZIP), tmp_path)


def test_a_file_without_a_known_checksum_is_recorded_once_and_held_to_it(
    tls: tuple[ssl.SSLContext, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    with serving({"weights.npz": ZIP}, tls=tls[0]) as server:
        item = weights(server, ZIP)
        done = fetch(item, tmp_path)
        path = tmp_path / "pretrained-models" / "weights.npz"
        assert path.read_bytes() == ZIP
        assert done.verified == (
            "size",
            "CRC of each member",
            "sha256 recorded, none was known",
        )
        path.unlink()
        other = zip_of({name: data[::-1] for name, data in PICTURES.items()})
        item = item.model_copy(update={"size_between": (1, 10 * len(ZIP))})
        server.files["weights.npz"] = other
        with pytest.raises(JobFailed, match="its file has SHA-256"):
            fetch(item, tmp_path)
        assert not path.exists()
        server.files["weights.npz"] = ZIP
        assert fetch(item, tmp_path).verified[-1] == "sha256"
        assert path.read_bytes() == ZIP


def test_a_damaged_npz_is_found_by_the_crc_of_its_members(
    tls: tuple[ssl.SSLContext, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    bad = ZIP[:5000] + bytes([ZIP[5000] ^ 1]) + ZIP[5001:]
    with (
        serving({"weights.npz": bad}, tls=tls[0]) as server,
        pytest.raises(JobFailed, match="is damaged"),
    ):
        fetch(weights(server, bad), tmp_path)
    assert not (tmp_path / "pretrained-models").exists()


def test_a_proxy_of_the_environment_is_used_and_no_proxy_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving({NAME: ZIP}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address.replace("http://", "http://me:secret@"))
        item = item_of(ZIP, [f"http://pictures.invalid/{NAME}"])
        fetch(item, tmp_path / "a")
        require_complete(tmp_path / "a", PICTURES)
        headers = {name.lower(): text for name, text in proxy.requests[0].headers.items()}
        assert headers["proxy-authorization"].startswith("Basic ")
        monkeypatch.setenv("no_proxy", "pictures.invalid")
        before = len(proxy.requests)
        with pytest.raises(JobFailed) as caught:
            fetch(item, tmp_path / "b", patience=replace(QUICK, tries=1))
        assert len(proxy.requests) == before
        assert "secret" not in str(caught.value)


def test_items_come_one_by_one_and_one_manifest_holds_them(tmp_path: Path) -> None:
    other = {f"val2017/{number}.jpg": bytes([number]) * 99 for number in range(3)}
    small = zip_of(other)
    with serving({NAME: ZIP, "val2017.zip": small}) as server:
        val = Item(
            key="val",
            name="val2017.zip",
            size=len(small),
            sha256=hashlib.sha256(small).hexdigest(),
            addresses=(f"{server.address}/val2017.zip",),
            contents=Contents(folder="val2017", suffix=".jpg", files=3, bytes=999),
        )
        settings = Settings(tmp_path, patience=QUICK, grain=SMALL)
        done: list[Done] = download([val, known(server)], settings, Notes())
        assert [item.item.key for item in done] == ["val", "train"]
    require_complete(tmp_path, PICTURES | other)


def test_finishing_one_item_keeps_what_another_was_stopped_at(tmp_path: Path) -> None:
    other = zip_of({"val2017/1.jpg": b"1"})
    with serving({NAME: ZIP, "val2017.zip": other}) as server:
        stop_half_way(server, tmp_path)
        val = Item(
            key="val",
            name="val2017.zip",
            size=len(other),
            sha256=hashlib.sha256(other).hexdigest(),
            addresses=(f"{server.address}/val2017.zip",),
            contents=Contents(folder="val2017", suffix=".jpg", files=1, bytes=9),
        )
        fetch(val, tmp_path)
        done = fetch(known(server), tmp_path)
        assert done.fetched_bytes < len(ZIP) - 300_000
    require_complete(tmp_path, PICTURES | {"val2017/1.jpg": b"1"})
