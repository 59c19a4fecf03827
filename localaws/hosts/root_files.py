"""The files in which a host differs from this machine: the upper layer of its root."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from localaws.folders import PROJECT_ROOT
from localaws.hosts import requirements

_FIXED = Path(__file__).parent / "root"
"""Files that all hosts have."""

_NOT_OURS = (
    # Services of this machine that would start on each host.
    "etc/systemd/system",
    "etc/cron.d",
)

_MASKED = (
    # They would change kernel settings or devices, which all hosts and this machine share.
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "kmod-static-nodes.service",
    "modprobe@.service",
    "sys-fs-fuse-connections.mount",
    "sys-kernel-config.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "systemd-binfmt.service",
    "systemd-modules-load.service",
    "systemd-random-seed.service",
    "systemd-sysctl.service",
    "systemd-udev-trigger.service",
    "systemd-udevd-control.socket",
    "systemd-udevd-kernel.socket",
    "systemd-udevd.service",
    # Nobody logs in at a console.
    "getty.target",
    "systemd-logind.service",
    "systemd-pcrphase.service",
    "systemd-pcrphase-sysinit.service",
)


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """What is a host's own.

    Attributes:
        instance_id: EC2's name of it.
        name: The host name, for example `ip-10-0-1-5`.
        endpoint: Where AWS's APIs answer on the host.
        user_data: The script that it runs once.
        names: Address by name, for /etc/hosts.
    """

    instance_id: str
    name: str
    endpoint: str
    user_data: bytes
    names: Mapping[str, str]


def lay(upper: Path, facts: HostFacts) -> None:
    """Write the upper layer of a host's root."""
    for folder in _NOT_OURS:
        hidden = upper / folder
        hidden.mkdir(parents=True)
        # overlayfs shows nothing of the layers below an opaque folder.
        os.setxattr(hidden, "trusted.overlay.opaque", b"y")
    shutil.copytree(_FIXED, upper, dirs_exist_ok=True)
    units = upper / "etc/systemd/system"
    for unit in _MASKED:
        (units / unit).symlink_to("/dev/null")
    wanted = units / "multi-user.target.wants"
    wanted.mkdir()
    (wanted / "cloud-final.service").symlink_to("../cloud-final.service")
    generators = upper / "etc/systemd/system-generators"
    generators.mkdir(parents=True)
    # Scripts of /etc/init.d are services of this machine, too.
    (generators / "systemd-sysv-generator").symlink_to("/dev/null")
    for path, (content, mode) in _own_files(facts).items():
        file = upper / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)


def _own_files(facts: HostFacts) -> dict[str, tuple[bytes, int]]:
    hosts = {"localhost": "127.0.0.1", facts.name: "127.0.1.1", **facts.names}
    if own := facts.names.get(facts.name):
        hosts[facts.name] = own
    machine_id = hashlib.sha256(facts.instance_id.encode()).hexdigest()[:32]
    program = shlex.quote(str(requirements.AWS_CLI))
    aws = f'#!/bin/sh\n{_exports(facts.endpoint)}exec {program} "$@"\n'
    files = {
        "etc/fstab": ("", 0o644),
        "etc/hostname": (facts.name + "\n", 0o644),
        "etc/hosts": ("".join(f"{to} {name}\n" for name, to in hosts.items()), 0o644),
        "etc/machine-id": (machine_id + "\n", 0o444),
        "etc/resolv.conf": ("", 0o644),
        "etc/shadow": (_shadow(), 0o640),
        "usr/local/bin/aws": (aws, 0o755),
    }
    found = {path: (text.encode(), mode) for path, (text, mode) in files.items()}
    return found | {"var/lib/cloud/instance/user-data.txt": (facts.user_data, 0o600)}


def _exports(endpoint: str) -> str:
    return (
        # Nodes of AWS find the endpoints by the region; credentials are those of the instance.
        f"export AWS_ENDPOINT_URL={shlex.quote(endpoint)}\n"
        "export NO_PROXY=127.0.0.1,169.254.169.254 no_proxy=127.0.0.1,169.254.169.254\n"
    )


def _shadow() -> str:
    """Return this machine's accounts without passwords: sshd lets nobody into a locked one."""
    users = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
    return "".join(f"{user.split(':')[0]}:*:19000:0:99999:7:::\n" for user in users)


def shown_folders() -> Iterable[Path]:
    """Yield the folders of this machine that a host needs and its root does not show by itself."""
    root = Path("/").stat().st_dev
    hidden = (Path("/tmp"), Path("/run"), Path("/dev"))  # noqa: S108  the host has its own
    seen: list[Path] = []
    for folder in (PROJECT_ROOT, Path(sys.prefix), Path(sys.base_prefix)):
        is_hidden = any(folder.is_relative_to(each) for each in hidden)
        is_seen = any(folder.is_relative_to(each) for each in seen)
        if (is_hidden or folder.stat().st_dev != root) and not is_seen:
            seen.append(folder)
    return seen
