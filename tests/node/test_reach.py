"""Whether a host answers on a TCP port."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from node.errors import NodeError
from node.reach import open_ports, wait_for
from tests.node.setup.host import PROJECT


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_open_ports_are_told_from_closed_ones(port: int) -> None:
    addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.1"]
    assert open_ports(addresses, port, timeout_s=2) == {"127.0.0.1"}
    assert open_ports([], port, timeout_s=2) == set()


def test_a_thousand_hosts_that_refuse_take_no_time(port: int) -> None:
    addresses = [f"127.1.{number // 250}.{number % 250 + 1}" for number in range(1000)]
    begin = time.monotonic()
    assert open_ports([*addresses, "127.0.0.1"], port, timeout_s=20) == {"127.0.0.1"}
    assert time.monotonic() - begin < 10


def test_it_waits_for_a_port(port: int) -> None:
    wait_for("localhost", port, timeout_s=2)


def test_a_closed_port_is_said() -> None:
    closed = free_port()
    with pytest.raises(
        NodeError, match=f"port {closed} of 127.0.0.1 cannot be reached: Connection"
    ):
        wait_for("127.0.0.1", closed, timeout_s=0.5)


def test_a_name_that_does_not_resolve_is_said_on_stdout() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "node.reach", "fs-1.invalid", "2049", "0.5"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == "the name fs-1.invalid does not resolve (tried for 0.5 s)\n"
