"""Pods of an MPIJob on this machine, laid out as MPI Operator and the chart lay them out.

Each has network, mounts, name, processes, root, /tmp and /dev/shm of its own, runs as user 1000
without any capability, on a root that cannot be written. Arguments and variables are those that
charts/maskrcnn-horovod renders; files and further variables those of the operator
(https://github.com/kubeflow/mpi-operator v0.6.0 and later, pkg/controller/mpi_job_controller.go);
names resolve by /etc/hosts, as the Service's would, once a pod runs. A pod that comes in place of
another has its name and another address.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil
import yaml

from tests.docker.containers.lite_image import make_root
from tests.docker.entrypoint.cluster import QUICK, run
from tests.docker.entrypoint.container import HostProcess
from training.kubernetes import helm

ROOT = Path(__file__).parents[4]
NETWORK = "10.78.0"
JOB = "trial"
LAUNCHER = f"{JOB}-launcher"
UID = 1000

TIMING = {**QUICK, "silence_s": 8, "together_s": 2}

_MOUNT = """
set -e
mount --make-rprivate /
mount --bind "$POD_ROOT" "$POD_ROOT"
mount -o remount,bind,ro "$POD_ROOT"
mount --rbind /dev "$POD_ROOT/dev"
mount -t tmpfs -o size=256m,mode=1777 tmpfs "$POD_ROOT/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$POD_ROOT/tmp"
mount --rbind /sys "$POD_ROOT/sys"
mount -t proc proc "$POD_ROOT/proc"
while read -r mode source target; do
  # This project may lie below /tmp, which is another now.
  [ -e "$POD_ROOT$target" ] || mkdir -p "$POD_ROOT$target"
  mount --bind "$source" "$POD_ROOT$target"
  mount -o "remount,bind,$mode" "$POD_ROOT$target"
done < "$POD_MOUNTS"
hostname "$POD_NAME"
root="$POD_ROOT"
unset POD_ROOT POD_MOUNTS POD_NAME
exec chroot "$root" setpriv --reuid 1000 --regid 1000 --groups 1000 \\
  --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
"""


@lru_cache
def chart_containers(slots: int, workers: int, distribution: str) -> dict[str, dict[str, Any]]:
    """Return the containers `launcher` and `worker` as the chart has them."""
    values = {
        "global": {"shared_fs": "efs"},
        "maskrcnn": {
            "image": "registry/horovod:1",
            "gpu_instance_type": "p4d.24xlarge",
            "nodes": workers,
            "gpus_per_node": slots,
        },
        "job": {"log": "/efs/log", "data": "/efs/data", "distribution": distribution},
    }
    text = helm.template(JOB, ROOT / "charts/maskrcnn-horovod", values, namespace="kubeflow")
    [job] = [each for each in yaml.safe_load_all(text) if each["kind"] == "MPIJob"]
    spec = job["spec"]
    assert (spec["slotsPerWorker"], spec["sshAuthMountPath"]) == (slots, "/etc/mask-rcnn/ssh")
    pods = [spec["mpiReplicaSpecs"][role]["template"]["spec"] for role in ("Launcher", "Worker")]
    for pod in pods:
        assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["fsGroup"]) == (
            UID,
            UID,
        )
        [container] = pod["containers"]
        assert container["terminationMessagePath"] == "/opt/ml/output/failure"
        mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounts - {"/dev/shm"} == {"/efs", "/tmp", "/opt/ml/input/config"}
    return {pod["containers"][0]["name"]: pod["containers"][0] for pod in pods}


@dataclass
class PodProcess(HostProcess):
    """A container of a pod."""

    address: str = ""
    uid: str = ""

    def vanish(self) -> None:
        """Kill everything at once."""
        # Process 1 of its namespace; the kernel forgets whom it was to die with when the user of a
        # process changes.
        for process in psutil.Process(self.process.pid).children():
            process.kill()

    @property
    def failure(self) -> str | None:
        """What Kubernetes shows as the container's termination message."""
        return (self.ml / "output" / "failure").read_text(encoding="utf-8") or None


@dataclass
class Pods:
    """The pods of one job.

    Args:
        folder: For everything that they have.
        workers: How many there are.
        prefix: Begins the names of network namespaces.
        slots: Ranks in each worker.
        distribution: `mpi` or `elastic`.
    """

    folder: Path
    workers: int
    prefix: str
    slots: int = 1
    distribution: str = "mpi"
    pods: list[PodProcess] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    """Of the pods that run, by name."""
    spaces: list[str] = field(default_factory=list)
    _hosts_files: dict[Path, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("log", "data"):
            (self.folder / name).mkdir()
        (self.folder / "data" / "picture").touch()
        os.chown(self.log, UID, UID)
        self.make_key("key")
        self._new_space("switch")
        self._ip("switch", "link", "add", "br0", "type", "bridge")
        self._ip("switch", "link", "set", "br0", "up")

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def worker_names(self) -> list[str]:
        return [f"{JOB}-worker-{number}" for number in range(self.workers)]

    def close(self) -> None:
        for pod in self.pods:
            if pod.process.poll() is None:
                pod.vanish()
            pod.process.wait()
        for space in self.spaces:
            run("ip", "netns", "del", space, check=False)

    # The network

    def _new_space(self, name: str) -> str:
        space = f"{self.prefix}-{name}"
        run("ip", "netns", "add", space)
        self.spaces.append(space)
        return space

    def _ip(self, name: str, *words: str) -> None:
        run("ip", "-n", f"{self.prefix}-{name}", *words)

    def _plug(self, number: int) -> str:
        """Make a pod's network; return its address."""
        name, port = f"p{number}", f"port{number}"
        self._new_space(name)
        peer = ("peer", "name", port, "netns", f"{self.prefix}-switch")
        self._ip(name, "link", "add", "eth0", "type", "veth", *peer)
        self._ip("switch", "link", "set", port, "master", "br0", "up")
        self._ip(name, "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
        for interface in ("lo", "eth0"):
            self._ip(name, "link", "set", interface, "up")
        return f"{NETWORK}.{number}"

    def cut_off(self, pod: PodProcess) -> None:
        """Lose a pod's node: no connection closes, nothing arrives any more."""
        self._ip("switch", "link", "set", f"port{pod.address.rpartition('.')[2]}", "down")
        self.forget(pod.name)

    def resolve(self, name: str, address: str) -> None:
        """Let a pod's name resolve, as the Service has it do once the pod runs."""
        self.addresses[name] = address
        self._write_hosts()

    def forget(self, name: str) -> None:
        self.addresses.pop(name, None)
        self._write_hosts()

    def _write_hosts(self) -> None:
        names = "".join(
            f"{address} {name}.{JOB}.kubeflow.svc\n" for name, address in self.addresses.items()
        )
        for path, own in self._hosts_files.items():
            # In place: it is mounted.
            path.write_text(f"127.0.0.1 localhost\n{own}\n{names}")

    def _add_hosts_file(self, path: Path, name: str, address: str) -> None:
        """Lay out /etc/hosts: the kubelet's part, and after it what DNS would say."""
        own = f"{address} {name}.{JOB}.kubeflow.svc.cluster.local {name}"
        self._hosts_files[path] = own
        self._write_hosts()

    # What the operator makes

    def make_key(self, name: str) -> None:
        """Make the Secret's content: an ECDSA key on P-521 in SEC 1's format."""
        key = self.folder / name
        run("ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-f", str(key))

    def _lay_out_key(self, root: Path, key: str) -> None:
        # As a Secret's volume is with fsGroup 1000: links into a folder of root's.
        there = root / "etc/mask-rcnn/ssh"
        (there / "..2026").mkdir(parents=True)
        (there / "..data").symlink_to("..2026")
        half = {"id_rsa": "", "id_rsa.pub": ".pub", "authorized_keys": ".pub"}
        for name, suffix in half.items():
            copy = there / "..2026" / name
            shutil.copyfile(f"{self.folder / key}{suffix}", copy)
            copy.chmod(0o644)
            (there / name).symlink_to(f"..data/{name}")

    def _lay_out_config(self, root: Path) -> None:
        there = root / "etc/mpi"
        there.mkdir()
        names = [f"{name}.{JOB}.kubeflow.svc" for name in self.worker_names]
        hostfile = "".join(f"{name} slots={self.slots}\n" for name in names)
        (there / "hostfile").write_text(hostfile)
        (there / "hostfile").chmod(0o444)
        script = there / "discover_hosts.sh"
        script.write_text("#!/bin/sh\n" + "".join(f"echo {name}\n" for name in names))
        script.chmod(0o555)

    def _operator_variables(self, name: str) -> dict[str, str]:
        if name != LAUNCHER:
            return {"K_MPI_JOB_ROLE": "worker"}
        return {
            "K_MPI_JOB_ROLE": "launcher",
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
            "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
            "OMPI_MCA_orte_set_default_slots": str(self.slots),
            "NVIDIA_VISIBLE_DEVICES": "",
            "NVIDIA_DRIVER_CAPABILITIES": "",
        }

    # The pods

    def start(
        self,
        name: str,
        adapter: str | None = None,
        hyperparameters: Mapping[str, str] | None = None,
        *,
        key: str = "key",
        data: Path | None = None,
        again: PodProcess | None = None,
        resolves: bool = True,
        **variables: str,
    ) -> PodProcess:
        """Start a pod's container.

        Args:
            name: Of the pod.
            adapter: The image's; None: that of our trainer.
            hyperparameters: The job's.
            key: Which Secret it has.
            data: The training data.
            again: A container that ended: this one is of the same pod.
            resolves: Whether the pod's name does already.
            variables: Changes of the environment.
        """
        number = len(self.pods) + 1
        address = again.address if again else self._plug(number)
        uid = again.uid if again else str(uuid.uuid4())
        space = f"p{address.rpartition('.')[2]}"
        if resolves:
            self.resolve(name, address)
        home = self.folder / f"pod-{number}"
        root = home / "root"
        make_root(root)
        self._add_hosts_file(home / "hosts", name, address)
        if adapter is not None:
            (root / "opt/mask-rcnn/adapter.py").write_text(adapter)
        self._lay_out_key(root, key)
        if name == LAUNCHER:
            self._lay_out_config(root)
        config = root / "opt/ml/input/config"
        config.mkdir(parents=True)
        (config / "hyperparameters.json").write_text(json.dumps(dict(hyperparameters or {})))
        ml = home / "ml"
        (ml / "output").mkdir(parents=True)
        (ml / "output/failure").touch()
        (ml / "output/failure").chmod(0o666)
        mounts = {
            "/usr": ("ro", "/usr"),
            sys.base_prefix: ("ro", sys.base_prefix),
            str(Path(sys.prefix).resolve()): ("ro", str(Path(sys.prefix).resolve())),
            "/opt/mask-rcnn/src/training": ("ro", str(ROOT / "training")),
            "/opt/ml/output/failure": ("rw", str(ml / "output/failure")),
            "/etc/hosts": ("ro", str(home / "hosts")),
            "/efs/log": ("rw", str(self.log)),
            "/efs/data": ("ro", str(data or self.folder / "data")),
        }
        for target, (_, source) in mounts.items():
            _make_mount_point(root / target[1:], is_folder=Path(source).is_dir())
        table = home / "mounts"
        lines = [f"{mode} {source} {target}\n" for target, (mode, source) in mounts.items()]
        table.write_text("".join(lines))
        role = "launcher" if name == LAUNCHER else "worker"
        container = chart_containers(self.slots, self.workers, self.distribution)[role]
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "PYTHONPATH": "/opt/mask-rcnn/src",
            "PYTHONDONTWRITEBYTECODE": "1",
            "POD_ROOT": str(root),
            "POD_MOUNTS": str(table),
            "POD_NAME": name,
            "MASK_RCNN_TIMING": json.dumps(TIMING),
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/var/run/secrets/token",
            **{each["name"]: each.get("value", uid) for each in container["env"]},
            **self._operator_variables(name),
            **variables,
        }
        printed, said = home / "stdout", home / "stderr"
        with printed.open("wb") as out, said.open("wb") as err:
            process = subprocess.Popen(
                [
                    *("ip", "netns", "exec", f"{self.prefix}-{space}"),
                    *("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork"),
                    *("--kill-child", "--", "sh", "-c", _MOUNT, "sh", "python3"),
                    *("/opt/mask-rcnn/entrypoint", *container["args"]),
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        pod = PodProcess(name, process, ml, printed, said, address, uid)
        self.pods.append(pod)
        return pod

    def lose(self, pod: PodProcess) -> None:
        """Kill everything in a pod at once, as when it is deleted by force."""
        pod.vanish()
        pod.wait()
        self.forget(pod.name)


def _make_mount_point(path: Path, *, is_folder: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_folder:
        path.mkdir(exist_ok=True)
    else:
        path.touch()
