"""Hosts on this machine: each has network, mounts, name and processes of its own.

A switch joins them (a bridge in a network namespace of its own), each has an address in 10.77.0.0
and an /etc/hosts with all names. Everything is made by root and gone when a host is.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.docker.entrypoint.container import HostProcess

ROOT = Path(__file__).parents[3]
NETWORK = "10.77.0"
PYTHON = sys.executable

QUICK = {
    "note_s": 0.5,
    "retry_s": 0.2,
    "pulse_s": 0.3,
    "silence_s": 2.5,
    "grace_s": 30,
    "settle_s": 1,
    "farewell_s": 5,
}
"""Timing for tests: a lost host is noticed within seconds."""

_START = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mount --bind "$HOSTS_FILE" /etc/hosts
mount --bind /dev/null /etc/resolv.conf
hostname "$HOST_NAME"
unset HOSTS_FILE HOST_NAME
exec "$@"
"""


def run(*argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, check=check, capture_output=True, text=True)


@dataclass
class Cluster:
    """Some hosts, and the image that their containers run."""

    folder: Path
    hosts: list[str]
    prefix: str
    python: str = PYTHON
    """The image's interpreter."""
    containers: list[HostProcess] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What /etc/hosts says: name to address."""

    def __post_init__(self) -> None:
        self.names = {
            host: f"{NETWORK}.{number}" for number, host in enumerate(self.hosts, start=1)
        }

    # The network

    def connect(self) -> None:
        switch = f"{self.prefix}-switch"
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "br0", "up")
        for number, host in enumerate(self.hosts, start=1):
            self._plug(switch, number, host)

    def _plug(self, switch: str, number: int, host: str) -> None:
        space = self.space(host)
        run("ip", "netns", "add", space)
        run(
            *("ip", "-n", space, "link", "add", "eth0", "type", "veth"),
            *("peer", "name", f"port{number}", "netns", switch),
        )
        run("ip", "-n", switch, "link", "set", f"port{number}", "master", "br0", "up")
        run("ip", "-n", space, "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
        # A dead bridge beside it, as Docker leaves one: nothing may try to use it.
        run("ip", "-n", space, "link", "add", "docker0", "type", "bridge")
        run("ip", "-n", space, "addr", "add", "172.17.0.1/16", "dev", "docker0")
        for interface in ("lo", "eth0", "docker0"):
            run("ip", "-n", space, "link", "set", interface, "up")

    def space(self, host: str) -> str:
        return f"{self.prefix}-{host}"

    def pull_plug(self, host: str) -> None:
        """Cut a host off: no connection closes, nothing arrives any more."""
        number = self.hosts.index(host) + 1
        run("ip", "-n", f"{self.prefix}-switch", "link", "set", f"port{number}", "down")

    def close(self) -> None:
        for container in self.containers:
            container.process.kill()
            container.process.wait()
        for name in [f"{self.prefix}-switch", *map(self.space, self.hosts)]:
            run("ip", "netns", "del", name, check=False)

    # The image

    @property
    def image(self) -> Path:
        return self.folder / "image"

    def install(self, algorithm: str, adapter: Path | str) -> None:
        """Lay the files out as the image has them.

        Args:
            algorithm: Its name.
            adapter: A file, or its text.
        """
        shutil.copytree(
            ROOT / "docker" / "entrypoint",
            self.image / "entrypoint",
            ignore=shutil.ignore_patterns("__pycache__"),
            dirs_exist_ok=True,
        )
        (self.image / "algorithm").write_text(f"{algorithm}\n")
        text = adapter.read_text() if isinstance(adapter, Path) else adapter
        (self.image / "adapter.py").write_text(text)

    # The containers

    @property
    def log(self) -> Path:
        """The log channel, which all hosts share."""
        return self.folder / "log"

    def start(
        self,
        host: str,
        hyperparameters: Mapping[str, str],
        *,
        data: Path | None = None,
        names: Mapping[str, str] | None = None,
        resources: Mapping[str, Any] | None = None,
        hostname: str | None = None,
        **variables: str,
    ) -> HostProcess:
        """Start a host's container, as SageMaker does: with its own files below its own root.

        Args:
            host: Its name in the job.
            hyperparameters: As SageMaker writes them.
            data: The train channel.
            names: What its /etc/hosts says.
            resources: Changes of resourceconfig.json.
            hostname: What the machine calls itself, where that is not its name in the job.
            variables: Changes of the environment.
        """
        attempt = len([known for known in self.containers if known.name == host])
        folder = self.folder / "hosts" / f"{host}.{attempt}"
        ml = self._lay_out(folder, host, hyperparameters, resources or {})
        data = data or self._some_data()
        hosts_file = folder / "hosts"
        known = {"localhost": "127.0.0.1", **(self.names if names is None else names)}
        hosts_file.write_text("".join(f"{known[name]} {name}\n" for name in known))
        environment = {
            "PATH": f"{Path(self.python).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "PYTHONPATH": str(ROOT),
            "HOME": "/root",
            "HOSTS_FILE": str(hosts_file),
            "HOST_NAME": hostname or host,
            "MASK_RCNN_ML_ROOT": str(ml),
            "MASK_RCNN_ALGORITHM": (self.image / "algorithm").read_text().strip(),
            "MASK_RCNN_DISTRIBUTION": "mpi",
            "MASK_RCNN_PROCESSES_PER_HOST": "1",
            "MASK_RCNN_DATA": str(data),
            "MASK_RCNN_LOG": str(self.log),
            "MASK_RCNN_TIMING": json.dumps(QUICK),
            "TRAINING_JOB_NAME": "job-of-test",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/secret",
            **variables,
        }
        printed, said = folder / "stdout", folder / "stderr"
        with printed.open("wb") as out, said.open("wb") as err:
            process = subprocess.Popen(
                [
                    *("ip", "netns", "exec", self.space(host)),
                    *("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork"),
                    *("--mount-proc", "--kill-child", "--"),
                    *(
                        "sh",
                        "-c",
                        _START,
                        "sh",
                        self.python,
                        str(self.image / "entrypoint"),
                        "train",
                    ),
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        container = HostProcess(host, process, ml, printed, said)
        self.containers.append(container)
        return container

    def start_all(self, hyperparameters: Mapping[str, str], **options: Any) -> list[HostProcess]:
        return [self.start(host, hyperparameters, **options) for host in self.hosts]

    def _some_data(self) -> Path:
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        (data / "picture").touch()
        return data

    def _lay_out(
        self,
        folder: Path,
        host: str,
        hyperparameters: Mapping[str, str],
        resources: Mapping[str, Any],
    ) -> Path:
        ml = folder / "ml"
        config = ml / "input" / "config"
        config.mkdir(parents=True)
        for part in ("model", "output/data"):
            (ml / part).mkdir(parents=True)
        self.log.mkdir(exist_ok=True)
        document = {
            "current_host": host,
            "current_instance_type": "ml.m5.large",
            "current_group_name": "homogeneousCluster",
            "hosts": sorted(self.hosts),
            "network_interface_name": "eth0",
            "topology": None,
            **resources,
        }
        (config / "resourceconfig.json").write_text(json.dumps(document))
        (config / "hyperparameters.json").write_text(json.dumps(dict(hyperparameters)))
        channel = {"TrainingInputMode": "File", "S3DistributionType": "FullyReplicated"}
        (config / "inputdataconfig.json").write_text(json.dumps({"train": channel}))
        return ml


def wait_until(condition: Callable[[], Any], timeout_s: float = 120) -> None:
    """Wait for something, and fail where it does not come."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come in time"
        time.sleep(0.05)
