"""Frames on a connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from entrypoint.wire import ALIVE, Link, LinkLost, Output, Pulse
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def ends() -> Iterator[tuple[Link, socket.socket]]:
    ours, theirs = socket.socketpair()
    link = Link(ours, silence_s=0.3)
    yield link, theirs
    link.close()
    theirs.close()


@given(
    text=st.text(),
    rank=st.integers(-1, 2**31 - 1),
    data=st.binary(min_size=1, max_size=2000),
)
def test_what_is_sent_arrives(text: str, rank: int, data: bytes) -> None:
    ours, theirs = map(Link, socket.socketpair())
    ours.send({"kind": "k", "text": text})
    ours.send(ALIVE)
    ours.send_output(rank, data)
    assert theirs.receive() == {"kind": "k", "text": text}
    assert theirs.receive() == Output(rank, data)
    ours.close()
    theirs.close()


def test_large_output_comes_in_pieces_that_make_up_the_whole() -> None:
    ours, theirs = map(Link, socket.socketpair())
    data = bytes(range(256)) * 8192

    def send() -> None:
        ours.send_output(3, data)
        ours.close()

    sender = threading.Thread(target=send)
    sender.start()
    parts = []
    with pytest.raises(LinkLost, match="its connection closed"):
        while True:
            frame = theirs.receive()
            assert isinstance(frame, Output)
            parts.append(frame.data)
    sender.join()
    assert b"".join(parts) == data


@pytest.mark.parametrize(
    "junk",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x01\xff\xff\xff\xff",
        b"\x01\x00\x00\x00\x02[]",
        b"\x01\x00\x00\x00\x02{}",
        b"\x09\x00\x00\x00\x00",
        b"\x02\x00\x00\x00\x01x",
        b"\x01\x00\x00\x00\x03\xff\xff\xff",
    ],
)
def test_what_is_no_frame_ends_the_link(ends: tuple[Link, socket.socket], junk: bytes) -> None:
    link, peer = ends
    peer.sendall(junk)
    with pytest.raises(LinkLost, match="no message of ours"):
        link.receive()


def test_silence_ends_the_link(ends: tuple[Link, socket.socket]) -> None:
    link, _peer = ends
    with pytest.raises(LinkLost, match=r"no sign of life from it for 0.3 s"):
        link.receive()


def test_signs_of_life_keep_a_silent_link(ends: tuple[Link, socket.socket]) -> None:
    link, peer = ends
    other = Link(peer)
    pulse = Pulse(other, every_s=0.05)
    late = threading.Timer(0.8, lambda: other.send({"kind": "late"}))
    late.start()
    begin = time.monotonic()
    assert link.receive() == {"kind": "late"}
    assert time.monotonic() - begin > 0.7
    pulse.stop()


def test_a_closed_peer_is_a_lost_link(ends: tuple[Link, socket.socket]) -> None:
    link, peer = ends
    peer.close()
    with pytest.raises(LinkLost, match="its connection closed"):
        link.receive()
    with pytest.raises(LinkLost, match="its connection broke"):
        link.send({"kind": "k"})
