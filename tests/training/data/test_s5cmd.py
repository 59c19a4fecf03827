"""With the real program, against a local S3."""

from __future__ import annotations

import os
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.data.conftest import S3
from training.data.s5cmd import (
    Arrived,
    Refused,
    S5cmd,
    can_say,
    copy_file,
    download_folder,
    find_binary,
    upload_folder,
)

NAMES = [
    "plain.jpg",
    "two  blanks .jpg",
    "ü/日本🐈.jpg",
    "plus+#%25&=.jpg",
    "quote'\"`.txt",
    "$HOME $(id) ;|<>.txt",
    "back\\slash\\",
    "star*what?[a-z]{b}.jpg",
    "tab\there",
    "carriage\rreturn",
    "-r",
    "#comment",
    "run",
    "A",
    "a",
    "s3:/x",
    "\N{LINE SEPARATOR}",
    "e\u0301",
    "é",
]


@pytest.fixture
def program(s3: S3) -> S5cmd:
    return program_for(s3)


def program_for(s3: S3) -> S5cmd:
    binary = find_binary()
    assert binary
    endpoint = s3.environ["AWS_ENDPOINT_URL"]
    return S5cmd(binary, lambda _: {**s3.environ, "S3_ENDPOINT_URL": endpoint})


def run(program: S5cmd, s3: S3, *lines: str) -> list[Arrived | Refused]:
    return list(program.run(lines, bucket=s3.bucket, workers=8))


def there_and_back(program: S5cmd, s3: S3, names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source", Path(folder) / "target"
        address = f"s3://{s3.bucket}/{os.urandom(4).hex()}"
        for name in names:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(name.encode())
        up = [copy_file(f"{source}/{name}", f"{address}/{name}") for name in names]
        down = [copy_file(f"{address}/{name}", f"{target}/{name}") for name in names]
        assert set(run(program, s3, *up)) == {Arrived(f"{address}/{name}") for name in names}
        assert set(run(program, s3, *down)) == {Arrived(f"{target}/{name}") for name in names}
        found = {
            str(path.relative_to(target)): path.read_bytes()
            for path in target.rglob("*")
            if path.is_file()
        }
        assert found == {name: name.encode() for name in names}


def test_files_of_any_name_go_there_and_back(program: S5cmd, s3: S3) -> None:
    there_and_back(program, s3, set(NAMES))


@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.sets(
        st.text(
            string.ascii_letters
            + string.digits
            + string.punctuation.replace("/", "")
            + " \tüé日🐈",
            min_size=1,
            max_size=12,
        )
        .filter(lambda name: name not in {".", ".."} and can_say(name))
        .map(lambda name: f"d/{name}"),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_a_name_is_made_of_it_arrives(s3: S3, names: set[str]) -> None:
    there_and_back(program_for(s3), s3, names)


def test_folders_go_there_and_back_with_all_that_is_below(
    program: S5cmd, s3: S3, tmp_path: Path
) -> None:
    content = {f"d'd/{name}": name.encode() for name in ("a b", "deep/er/c", "ü%20+", "empty/0")}
    for name, value in content.items():
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_bytes(value)
    address = f"s3://{s3.bucket}/to"
    up = run(program, s3, upload_folder(f"{tmp_path}/source/d'd", f"{address}/d'd"))
    assert set(up) == {Arrived(f"{address}/{name}") for name in content}
    down = run(program, s3, download_folder(f"{address}/d'd", f"{tmp_path}/target/d'd"))
    assert set(down) == {Arrived(f"{tmp_path}/target/{name}") for name in content}
    assert (tmp_path / "target/d'd/deep/er/c").read_bytes() == b"deep/er/c"


def test_what_does_not_work_is_told_and_the_rest_arrives(
    program: S5cmd, s3: S3, tmp_path: Path
) -> None:
    (tmp_path / "there").write_bytes(b"x")
    found = run(
        program,
        s3,
        copy_file(f"{tmp_path}/absent", f"s3://{s3.bucket}/absent"),
        copy_file(f"{tmp_path}/there", f"s3://{s3.bucket}/there"),
        copy_file(f"s3://{s3.bucket}/nothing", f"{tmp_path}/nothing"),
    )
    assert Arrived(f"s3://{s3.bucket}/there") in found
    errors = " ".join(event.error for event in found if isinstance(event, Refused))
    assert "absent" in errors
    assert "404" in errors or "NoSuchKey" in errors
    assert not (tmp_path / "nothing").exists()


def test_a_program_that_does_not_run_is_an_error_of_its_own(s3: S3, tmp_path: Path) -> None:
    broken = tmp_path / "s5cmd"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 7\n")
    broken.chmod(0o755)
    found = run(S5cmd(broken, lambda _: {}), s3, "cp 'a' 'b'")
    assert found == [
        Refused("no such luck (s5cmd)"),
        Refused("s5cmd ended with exit code 7"),
    ]


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    endless = tmp_path / "s5cmd"
    endless.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    endless.chmod(0o755)
    code = (
        "from pathlib import Path; from training.data.s5cmd import S5cmd\n"
        f"list(S5cmd(Path({str(endless)!r}), lambda _: {{'PATH': '/bin:/usr/bin'}})"
        ".run(['x'], bucket='b', workers=1))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).resolve().parents[3])
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.02)
    child = int((tmp_path / "pid").read_text())
    parent.kill()
    parent.wait()
    for _ in range(200):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.02)
    pytest.fail("the copy goes on")


def test_a_reader_that_stops_ends_it(program: S5cmd, s3: S3, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / str(number)).write_bytes(b"x")
    lines = [
        copy_file(f"{tmp_path}/{number}", f"s3://{s3.bucket}/{number}") for number in range(200)
    ]
    events = program.run(lines, bucket=s3.bucket, workers=2)
    next(events)
    events.close()  # type: ignore[attr-defined]
    before = s3.client.list_objects_v2(Bucket=s3.bucket)["KeyCount"]
    time.sleep(0.3)
    assert s3.client.list_objects_v2(Bucket=s3.bucket)["KeyCount"] == before < 200
