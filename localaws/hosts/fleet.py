"""All hosts of this local AWS, by instance id."""

from __future__ import annotations

import base64
import binascii
import itertools
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from localaws.hosts import control_group, mount_targets
from localaws.hosts.ground import Ground, mac_of
from localaws.hosts.host import METADATA, Address, Host
from localaws.hosts.metadata import Metadata
from localaws.hosts.root_files import HostFacts

Application = Callable[..., Any]


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@dataclass
class _Running:
    host: Host
    servers: list[BaseWSGIServer]
    instance: Any


class Fleet:
    """Makes and ends hosts.

    Args:
        application: AWS's APIs, which answer on each host as they do on this machine.
        port: Their port on 127.0.0.1, here and there.
        file_systems: The folder of all file systems.
        consoles: The folder for what the hosts' inits say.
    """

    def __init__(
        self, application: Application, port: int, file_systems: Path, consoles: Path
    ) -> None:
        self._application = application
        self._port = port
        self._file_systems = file_systems
        self._consoles = consoles
        self._consoles.mkdir(parents=True, exist_ok=True)
        self._running: dict[str, _Running] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        control_group.remove_leftovers()
        self._ground = Ground()
        self._mount_targets = mount_targets.Servers(self._ground)

    def start(self, instance: Any) -> None:
        """Make a host of an instance and boot it.

        Raises:
            OSError: It cannot be made.
        """
        user_data = _decoded(instance.user_data)
        ec2 = instance.ec2_backend
        targets = list(mount_targets.of_vpc(ec2, instance.vpc_id))
        for target in targets:
            self._mount_targets.serve(target)
        name = str(instance.private_dns_name).split(".")[0]
        zone = instance.placement.zone
        names = {each.name: each.address for each in targets if each.zone in (zone, None)}
        facts = HostFacts(
            instance_id=instance.id,
            name=name,
            endpoint=f"http://127.0.0.1:{self._port}",
            user_data=user_data,
            names={**names, name: instance.private_ip},
        )
        vpc = ec2.get_vpc(instance.vpc_id).cidr_block
        instance.nics[0].mac_address = mac_of(instance.private_ip)
        address = Address(ip=instance.private_ip, mac=instance.nics[0].mac_address, vpc=vpc)
        with self._lock:
            number = next(self._numbers)
        host = Host(self._ground, number, facts, address)
        running = _Running(host, [], instance)
        try:
            host.make()
            metadata = Metadata(instance, user_data)
            self._serve(running, METADATA, 80, metadata)
            self._serve(running, "127.0.0.1", self._port, self._application)
            self._boot(host)
        except BaseException:
            self._end(running)
            raise
        with self._lock:
            self._running[instance.id] = running
        threading.Thread(target=self._watch, args=(running,), daemon=True).start()

    def _serve(self, running: _Running, address: str, port: int, application: Application) -> None:
        listener: socket.socket = self._ground.listen(running.host.instance_id, address, port)
        server = make_server(
            address,
            port,
            application,
            threaded=True,
            request_handler=_Quiet,
            fd=listener.fileno(),
        )
        # The server has a copy of the socket.
        listener.close()
        running.servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def _watch(self, running: _Running) -> None:
        """Wait for a host's end; one that nobody asked for ends the instance, too."""
        instance_id = running.host.instance_id
        with suppress(OSError):
            while running.host.wait():
                self._boot(running.host)
        if not self._is_kept(running):
            return
        sys.stderr.write(f"{instance_id}: the host's init has ended\n")
        # EC2 terminates an instance that shuts itself down, if it is told to; a group replaces it
        # in either case.
        running.instance.ec2_backend.terminate_instances([instance_id])

    def _is_kept(self, running: _Running) -> bool:
        with self._lock:
            return self._running.get(running.host.instance_id) is running

    def _boot(self, host: Host) -> None:
        host.boot(self._file_systems, self._consoles / f"{host.instance_id}.log")

    def find(self, instance_id: str) -> Host | None:
        """Return an instance's host, if it is up."""
        with self._lock:
            running = self._running.get(instance_id)
        return running.host if running and running.host.is_up() else None

    def instances(self) -> dict[str, Any]:
        """Return moto's instances that have a host which is up, by id."""
        with self._lock:
            running = dict(self._running)
        return {id_: each.instance for id_, each in running.items() if each.host.is_up()}

    def end(self, instance_id: str) -> None:
        """End an instance's host, if it has one."""
        with self._lock:
            running = self._running.pop(instance_id, None)
        if running:
            self._end(running)

    @staticmethod
    def _end(running: _Running) -> None:
        running.host.remove()
        for server in running.servers:
            server.shutdown()
            server.server_close()

    def close(self) -> None:
        """End all hosts."""
        with self._lock:
            left = list(self._running.values())
            self._running.clear()
        # Networks and files go with it.
        self._ground.close()
        for running in left:
            running.host.end()


def _decoded(user_data: Any) -> bytes:
    """Return user data as the instance gets it: APIs have it in base64."""
    if not user_data:
        return b""
    raw = user_data if isinstance(user_data, bytes) else str(user_data).encode()
    try:
        return base64.b64decode(raw, validate=True)
    except binascii.Error:
        return raw


_fleet: Fleet | None = None


def use(fleet: Fleet | None) -> None:
    """Set the hosts of this process. moto's backends are made by moto: nothing can be passed in."""
    global _fleet  # noqa: PLW0603
    _fleet = fleet


def current() -> Fleet | None:
    """Return the hosts, or None where instances are records only."""
    return _fleet
