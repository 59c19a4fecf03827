from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from training.maskrcnn.connections import hang_up, open_connections, watch


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        theirs.settimeout(10)
        with ours, theirs:
            yield ours, theirs


def test_network_connections_are_found_and_nothing_else(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    pipe = os.pipe()
    local, other = socket.socketpair()
    with local, other:
        found = open_connections()
    assert {end.fileno() for end in pair} <= found.keys()
    assert not found.keys() & {*pipe, local.fileno(), other.fileno()}
    for descriptor in pipe:
        os.close(descriptor)


def test_the_other_end_sees_that_we_hung_up_though_the_descriptor_is_still_open(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    number = ours.fileno()
    hang_up({number: open_connections()[number]})
    assert theirs.recv(1) == b""
    assert ours.fileno() == number
    assert number in open_connections()


def test_a_number_that_is_used_again_is_left_alone(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    hang_up({ours.fileno(): "socket:[1]"})
    ours.sendall(b"x")
    assert theirs.recv(1) == b"x"


def test_one_that_its_owner_closes_meanwhile_is_no_error(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pair
    closed = os.dup(theirs.fileno())
    found = open_connections()
    os.close(closed)
    # As if it had been closed right after the look.
    monkeypatch.setattr("training.maskrcnn.connections.open_connections", lambda: found)
    watch(found)
    hang_up({closed: found[closed], ours.fileno(): found[ours.fileno()]})
    assert theirs.recv(1) == b""


def test_a_host_that_is_gone_without_a_word_is_missed_in_15_seconds(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    watch({ours.fileno(): open_connections()[ours.fileno()]})
    assert ours.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    of_tcp = [
        ours.getsockopt(socket.IPPROTO_TCP, option)
        for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
    ]
    idle, interval, count = of_tcp
    assert idle + interval * count <= 15
    assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 15_000
