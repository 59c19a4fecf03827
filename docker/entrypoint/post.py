"""A worker's side of the meeting of pods: an SSH server that waits for the launcher's call."""

import os
import socket
import struct
import time
from typing import Optional

from .errors import EntrypointError
from .machine import Machine
from .meeting import Meeting, checked_welcome
from .pod import PORT, Pod, take_key
from .processes import exit_text, lineage
from .say import say
from .session import CONTROL_VARIABLE
from .signals import StopSignals
from .sshd import Entrance, SshServer
from .timing import Timing
from .wire import Link, LinkLost, Message


class Post:
    """The SSH server of a worker, and the socket to which a call of the launcher leads.

    Args:
        machine: This host, whose processes the server and the call are.
        pod: This pod.

    Raises:
        EntrypointError: The key is not there, or the server does not start.
    """

    def __init__(self, machine: Machine, pod: Pod) -> None:
        self._machine = machine
        key = take_key(pod, machine.folder)
        path = os.path.join(machine.folder, "control")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(path)
        os.chmod(path, 0o600)
        self._socket.listen(8)
        self._socket.settimeout(0.2)
        entrance = Entrance(key.public, source=None, address=None, port=PORT, host_key=key.path)
        environment = {**machine.session_environment(), CONTROL_VARIABLE: path}
        server = SshServer(machine.folder, entrance, environment)
        self._server = server.process
        machine.watch("sshd", server.process)

    def close(self) -> None:
        self._socket.close()

    def meet(
        self, hello: Message, timing: Timing, stop: StopSignals, wait_s: float
    ) -> Optional[Meeting]:
        """Wait for a call, and introduce this host; None: none came in time, or it is to stop.

        Raises:
            JobOver: The launcher has sent this host away, or has ended the job.
            EntrypointError: The server has ended.
        """
        begin = time.monotonic()
        next_note = begin + timing.note_s
        while not stop.count and time.monotonic() < begin + wait_s:
            link = self._accept(timing)
            if link is not None:
                try:
                    link.send(hello)
                    welcome = checked_welcome(link.receive())
                    return Meeting(link, str(welcome.get("address")), "", welcome)
                except LinkLost as lost:
                    say(f"a call of the launcher broke off: {lost}")
                    link.close()
            if time.monotonic() >= next_note:
                next_note += timing.note_s
                say(f"waiting for the launcher since {time.monotonic() - begin:.0f} s")
        return None

    def _accept(self, timing: Timing) -> Optional[Link]:
        try:
            connection, _ = self._socket.accept()
        except socket.timeout:
            # Sessions that are over, and news of the server.
            event = self._machine.next_event(0)
            if event is not None and event["kind"] == "process_ended":
                raise EntrypointError(f"its SSH server {exit_text(int(event['code']))}")
            return None
        # What carries the call outlives the ranks.
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        self._machine.spared = {self._server.pid} | lineage(struct.unpack("3i", peer)[0])
        return Link(connection, silence_s=timing.silence_s)
