"""The pod of a test chart on this machine: its real programs, run as the chart says.

Helm renders the chart. Its ConfigMap and Secrets become files, its containers' commands processes,
with one substitution: a mounted path is a folder of the test, a port a free one. Where tests run as
root the programs run as the pod's user, who may read (the test's folders are root's) but not write.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.charts.rendering import PROJECT, Document, only, render

PROXY_PORTS = (8443, 6443)
PORTS = (*PROXY_PORTS, 8888, 6006)
IMAGE = {"/opt/mask-rcnn/notebooks": PROJECT / "docker/notebook"}
"""What lies elsewhere in the image."""
START_S = 90


@dataclass
class Stand:
    """A pod whose programs run."""

    objects: list[Document]
    folder: Path
    claims: Mapping[str, Path]
    """Claim to the folder that stands for its volume."""
    programs: Path | None = None
    """Of an environment with Jupyter."""
    ports: dict[int, int] = field(default_factory=lambda: _free_ports(PORTS))
    """Port in the pod to port here."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def pod(self) -> dict[str, Any]:
        spec: dict[str, Any] = only("Deployment", self.objects)["spec"]["template"]["spec"]
        return spec

    @property
    def user(self) -> int:
        user: int = self.pod["securityContext"]["runAsUser"]
        return user

    def secret(self, suffix: str) -> dict[str, str]:
        """Return what is in a Secret."""
        [found] = [
            each
            for each in self.objects
            if each["kind"] == "Secret" and each["metadata"]["name"].endswith(suffix)
        ]
        return {key: base64.b64decode(text).decode() for key, text in found["data"].items()}

    def log(self, container: str) -> str:
        """Return what a container has printed."""
        return (self.folder / f"{container}.log").read_text(errors="replace")

    def start(self) -> None:
        """Start all containers."""
        for container in self.pod["initContainers"]:
            process = self._start(container)
            assert process.wait(30) == 0, self.log(container["name"])
        for container in self.pod["containers"]:
            self.processes[container["name"]] = self._start(container)
        for port in PORTS:
            self._wait_for(port)

    def start_proxy(self) -> None:
        """Start the proxy alone."""
        [container] = [each for each in self.pod["containers"] if each["name"] == "proxy"]
        self.processes["proxy"] = self._start(container)
        for port in PROXY_PORTS:
            self._wait_for(port)

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            # Jupyter's kernels and TensorBoard's reader are in its group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, container: dict[str, Any]) -> subprocess.Popen[bytes]:
        places = self._mount(container)
        words = [*container["command"], *container["args"]]
        variables = {each["name"]: each["value"] for each in container.get("env", ())}
        program, *arguments = [self._mapped(word, places) for word in words]
        environment = {
            "PATH": f"{self.programs}:{Path(sys.prefix) / 'bin'}:/usr/sbin:/usr/bin:/bin",
            "JUPYTER_CONFIG_PATH": str(PROJECT / "docker/notebook"),
            "OMP_NUM_THREADS": "1",
            **{name: self._mapped(value, places) for name, value in variables.items()},
        }
        found = shutil.which(program, path=environment["PATH"])
        if found is None:
            pytest.skip(f"needs {program}: apt-get install {program}")
        with (self.folder / f"{container['name']}.log").open("wb") as log:
            if os.geteuid() == 0:
                # As runc does with what a container prints to.
                os.fchown(log.fileno(), self.user, self.user)
            return subprocess.Popen(
                [*self._as_user(), found, *arguments],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _as_user(self) -> list[str]:
        if os.geteuid() != 0:
            return []
        user = str(self.user)
        reads = "+dac_read_search"
        return [
            *("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"),
            *("--inh-caps", reads, "--ambient-caps", reads, "--"),
        ]

    def _mount(self, container: dict[str, Any]) -> dict[str, Path]:
        """Lay out a container's volumes; return path in the container to path here."""
        volumes = {each["name"]: each for each in self.pod["volumes"]}
        places = dict(IMAGE)
        for mount in container["volumeMounts"]:
            path = mount["mountPath"].rstrip("/")
            places[path] = self._volume(volumes[mount["name"]])
        for path, text in self._texts(container, volumes):
            # A configuration names paths of its own container.
            path.write_text(self._mapped(text, places))
        return places

    def _volume(self, volume: dict[str, Any]) -> Path:
        if "persistentVolumeClaim" in volume:
            return self.claims[volume["persistentVolumeClaim"]["claimName"]]
        folder = self.folder / "volumes" / volume["name"]
        folder.mkdir(parents=True, exist_ok=True)
        if "emptyDir" in volume and os.geteuid() == 0:
            os.chown(folder, self.user, self.user)
        if "secret" in volume:
            data = self._data("Secret", volume["secret"]["secretName"])
            for item in volume["secret"]["items"]:
                (folder / item["path"]).write_bytes(base64.b64decode(data[item["key"]]))
        return folder

    def _texts(
        self, container: dict[str, Any], volumes: dict[str, Any]
    ) -> Iterator[tuple[Path, str]]:
        for mount in container["volumeMounts"]:
            volume = volumes[mount["name"]]
            if "configMap" in volume:
                data = self._data("ConfigMap", volume["configMap"]["name"])
                for key, text in data.items():
                    yield self._volume(volume) / key, text

    def _data(self, kind: str, name: str) -> dict[str, str]:
        [found] = [
            each
            for each in self.objects
            if each["kind"] == kind and each["metadata"]["name"] == name
        ]
        data: dict[str, str] = found["data"]
        return data

    def _mapped(self, text: str, places: Mapping[str, Path]) -> str:
        paths = "|".join(re.escape(path) for path in sorted(places, key=len, reverse=True))
        text = re.sub(rf"(?<![\w.])({paths})(?![\w-])", lambda found: str(places[found[1]]), text)
        ports = "|".join(map(str, self.ports))
        return re.sub(
            rf"(?<!\d)({ports})(?!\d)", lambda found: str(self.ports[int(found[1])]), text
        )

    def _wait_for(self, port: int) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            for name, process in self.processes.items():
                assert process.poll() is None, f"{name} ended: {self.log(name)}"
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", self.ports[port])) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError(f"nothing listens on {port}")


@contextmanager
def standing(
    chart: str,
    values: Mapping[str, Any],
    folder: Path,
    *,
    claims: Mapping[str, Path],
    programs: Path | None = None,
) -> Iterator[Stand]:
    """Yield the pod of a chart, of which nothing runs yet, and stop what was started."""
    folder.mkdir()
    stand = Stand(render(chart, values, release=chart), folder, claims, programs)
    try:
        yield stand
    finally:
        stand.stop()


def _free_ports(wanted: Sequence[int]) -> dict[int, int]:
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in wanted]
        free = [int(server.getsockname()[1]) for server in servers]
    return dict(zip(wanted, free, strict=True))
