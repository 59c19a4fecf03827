"""The namespaces that hold all hosts of one local AWS.

Their first process reads from a pipe of ours: when we end, however we end, it ends, and the kernel
ends with it every host, mount and network below.
"""

from __future__ import annotations

import ctypes
import ipaddress
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import psutil

from training.errors import UsageError

CLONE_NEWNET = 0x40000000
"""From linux/sched.h."""

BRIDGE = "vpc"
START_S = 10.0

_MAKE = ["unshare", "--mount", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]


def mac_of(ip: str) -> str:
    """Return the hardware address that goes with an address of a VPC.

    A host that gets the address of an ended one has the same: others still have it in mind.
    """
    return "02:00:" + ipaddress.ip_address(ip).packed.hex(":")


class Ground:
    """Mount, network and process namespaces, with one bridge as the network of all VPCs."""

    def __init__(self) -> None:
        self._keeper = subprocess.Popen(
            [*_MAKE, "cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Ctrl-C is for the server, which then ends this in order.
            start_new_session=True,
        )
        try:
            self.pid = self._first_process()
            # Names of networks and the hosts' files are kept below /run.
            self.run("mount", "-t", "tmpfs", "-o", "mode=755", "ground", "/run")
            self.run("ip", "link", "set", "lo", "up")
            # Without an address of its own, it changes its address with the hosts that come and go.
            mac = mac_of("0.0.0.0")  # noqa: S104  nobody listens here
            self.run("ip", "link", "add", BRIDGE, "address", mac, "type", "bridge")
            self.run("ip", "link", "set", BRIDGE, "up")
        except BaseException:
            self.close()
            raise

    def _first_process(self) -> int:
        outside = Path("/proc/self/ns/pid").readlink()
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._keeper.poll() is not None:
                raise UsageError("hosts: this machine makes no namespaces (unshare failed)")
            for child in psutil.Process(self._keeper.pid).children():
                space = Path(f"/proc/{child.pid}/ns/pid")
                if child.name() == "cat" and space.readlink() != outside:
                    return child.pid
            time.sleep(0.01)
        raise UsageError(f"hosts: no namespaces within {START_S:.0f} s")

    @property
    def enter(self) -> list[str]:
        """The beginning of a command that is to run in it."""
        return ["nsenter", f"--target={self.pid}", "--mount", "--net", "--pid"]

    def run(self, *command: str) -> None:
        """Run a command in it.

        Raises:
            OSError: It failed; the message is the command's.
        """
        done = subprocess.run(
            [*self.enter, "--", *command], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")

    def outside(self, path: str) -> Path:
        """Return how a path in it is called outside."""
        return Path(f"/proc/{self.pid}/root{path}")

    def listen(self, network: str | None, address: str, port: int) -> socket.socket:
        """Return a socket that listens in one of its networks; None: in the bridge's."""
        place = (
            self.outside(f"/run/netns/{network}") if network else Path(f"/proc/{self.pid}/ns/net")
        )
        made: list[socket.socket] = []
        failed: list[OSError] = []

        def make() -> None:
            # A thread of its own: it stays in the namespace, and nothing else may run there.
            try:
                with place.open("rb") as namespace:
                    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
                        number = ctypes.get_errno()
                        raise OSError(number, os.strerror(number), str(place))
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((address, port))
                listener.listen(128)
                made.append(listener)
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return made[0]

    def close(self) -> None:
        """End all that is in it."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        try:
            self._keeper.wait(START_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
