"""One host: a network, a control group and an init with its own root and processes."""

from __future__ import annotations

import ipaddress
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from localaws.hosts import root_files
from localaws.hosts.control_group import ControlGroup
from localaws.hosts.ground import BRIDGE, Ground
from localaws.hosts.root_files import HostFacts

METADATA = "169.254.169.254"

BOOT_S = 15.0

_RESTART = signal.SIGHUP
"""How the kernel ends the init of a process namespace that restarts the machine: reboot(2)."""

_SCRIPT = Path(__file__).parent / "boot.sh"


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a host is in its VPC."""

    ip: str
    mac: str
    vpc: str
    """CIDR block: all of it is one link away."""


class Host:
    """A host that is made, booted, and ended."""

    def __init__(self, ground: Ground, number: int, facts: HostFacts, address: Address) -> None:
        self.instance_id = facts.instance_id
        self._ground = ground
        self._facts = facts
        self._address = address
        self._link = f"host{number}"
        self._folder = f"/run/hosts/{facts.instance_id}"
        self._group = ControlGroup.make(facts.instance_id)
        self._process: subprocess.Popen[bytes] | None = None
        self._has_ended = False
        self._changing = threading.Lock()
        self.pid = 0
        """Of its init, on this machine."""

    def make(self) -> None:
        """Make its network and its files.

        Raises:
            OSError: The machine refused.
        """
        for part in ("upper", "work", "root"):
            self._ground.outside(f"{self._folder}/{part}").mkdir(parents=True)
        root_files.lay(self._ground.outside(f"{self._folder}/upper"), self._facts)
        self._make_network()

    def _make_network(self) -> None:
        run, name, link = self._ground.run, self.instance_id, self._link
        run("ip", "netns", "add", name)
        veth = ("type", "veth", "peer", "name", "eth0", "address", self._address.mac)
        run("ip", "link", "add", link, *veth, "netns", name)
        run("ip", "link", "set", link, "master", BRIDGE, "up")
        inside = ("ip", "-netns", name)
        run(*inside, "link", "set", "lo", "up")
        run(*inside, "link", "set", "eth0", "up")
        prefix = ipaddress.ip_network(self._address.vpc).prefixlen
        run(*inside, "address", "add", f"{self._address.ip}/{prefix}", "dev", "eth0")
        run(*inside, "address", "add", f"{METADATA}/32", "dev", "lo")
        # As on a machine with Docker: a bridge that leads nowhere, the same on each host. What
        # takes the first interface that it finds for a network hangs on it.
        # https://github.com/horovod/horovod/issues/310
        run(*inside, "link", "add", "docker0", "type", "bridge")
        run(*inside, "address", "add", "172.17.0.1/16", "dev", "docker0")
        run(*inside, "link", "set", "docker0", "up")

    def boot(self, file_systems: Path, console: Path) -> None:
        """Start its init.

        Raises:
            OSError: It did not come up.
        """
        with self._changing:
            if self._has_ended:
                raise OSError(f"{self.instance_id}: the host has ended")
            self._process = self._start(file_systems, console)
            self.pid = self._wait_for_init(console)

    def _start(self, file_systems: Path, console: Path) -> subprocess.Popen[bytes]:
        enter = ["nsenter", f"--target={self._ground.pid}", "--mount", "--pid"]
        network = [f"--net=/proc/{self._ground.pid}/root/run/netns/{self.instance_id}"]
        own = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--fork"]
        init = ["sh", str(_SCRIPT), self._folder, str(file_systems)]
        shown = [str(path) for path in root_files.shown_folders()]
        join = 'echo $$ >"$0" && exec "$@"'
        # A signal (`_RESTART`) tells a reboot from an end; whoever started us may have had it
        # ignored, as nohup does, or SIGINT, as a shell does with its background jobs.
        command = ["env", "--default-signal=HUP,INT", "sh", "-c", join, str(self._group.processes)]
        command += [*enter, *network, "--"]
        with console.open("ab") as output:
            return subprocess.Popen(
                [*command, *own, "--kill-child", "--", *init, *shown],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                start_new_session=True,
            )

    def _wait_for_init(self, console: Path) -> int:
        assert self._process
        deadline = time.monotonic() + BOOT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(self._process.pid).children(recursive=True):
                    if child.name() == "systemd":
                        return child.pid
            time.sleep(0.02)
        said = console.read_text(errors="replace").strip().splitlines()[-1:]
        raise OSError(f"the host did not boot: {' '.join(said) or f'nothing in {BOOT_S:.0f} s'}")

    def enter(
        self,
        command: Sequence[str],
        *,
        unit: str = "",
        limit_s: float | None = None,
        folder: str = "/",
    ) -> list[str]:
        """Return a command that runs `command` on the host, with the caller's three streams.

        Args:
            command: Program and arguments.
            unit: Name of the unit that it is there; a new one by default.
            limit_s: It is ended after so many seconds.
            folder: Where it runs.
        """
        spaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"]
        # A unit of its own: as a child of ours it would be in none of the host's control groups.
        run = ["systemd-run", "--quiet", "--pipe", "--wait", "--collect", "--service-type=exec"]
        run += [f"--working-directory={folder}"]
        run += [f"--unit={unit}"] if unit else []
        run += [f"--property=RuntimeMaxSec={limit_s:g}"] if limit_s is not None else []
        return ["nsenter", f"--target={self.pid}", *spaces, "--", *run, "--", *command]

    def restart(self) -> None:
        """Ask its init to boot the host again, and do not wait for it."""
        restart = self.enter(["systemctl", "reboot"])
        subprocess.run(restart, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def is_ready(self) -> bool:
        """Whether its init takes commands."""
        return self.is_up() and (self.root / "run/dbus/system_bus_socket").exists()

    @property
    def root(self) -> Path:
        """Its root, seen from this machine."""
        return Path(f"/proc/{self.pid}/root")

    def is_up(self) -> bool:
        """Whether its init runs."""
        return self._process is not None and self._process.poll() is None

    def wait(self) -> bool:
        """Wait until its init has ended; return whether it wants to be booted again."""
        assert self._process
        return self._process.wait() == -_RESTART

    def end(self) -> None:
        """End all its processes, for good."""
        with self._changing:
            self._has_ended = True
        if self._process and self._process.poll() is None:
            # Its init dies with the process that made it (unshare --kill-child).
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._group.remove()

    def remove(self) -> None:
        """End all its processes and remove its network and files."""
        self.end()
        for command in (["link", "delete", self._link], ["netns", "delete", self.instance_id]):
            with suppress(OSError):
                self._ground.run("ip", *command)
        shutil.rmtree(self._ground.outside(self._folder), ignore_errors=True)
