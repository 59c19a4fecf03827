"""Debian packages: which are needed, which are missing, and their installation.

What counts is what a package brings, not its name: on another distribution the same things may
come from elsewhere.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import SetupError
from toolchain.processes import Progress, run

LOCK_TIMEOUT_S = 300
"""How long apt waits for another apt, for example the daily upgrade."""


@dataclass(frozen=True)
class Package:
    name: str
    why: str
    is_there: Callable[[], bool]


def has_command(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def has_system_command(name: str) -> Callable[[], bool]:
    """Look where root's programs are too, which a user's PATH may lack."""
    return lambda: bool(shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin"))


def has_helper(name: str) -> Callable[[], bool]:
    """Look where distributions have podman's helper programs."""
    folders = ("/usr/lib/podman", "/usr/libexec/podman", "/usr/local/libexec/podman")
    return lambda: any(Path(folder, name).exists() for folder in folders)


def has_venv() -> bool:
    """Debian splits `ensurepip`, which fills a new environment, from the interpreter."""
    return importlib.util.find_spec("ensurepip") is not None


def has_headers() -> bool:
    return Path(sysconfig.get_path("include"), "Python.h").exists()


VENV = Package("python3-venv", "makes virtual environments", has_venv)
HOROVOD = (
    Package("g++", "compiles Horovod", has_command("g++")),
    Package("make", "compiles Horovod", has_command("make")),
    Package("python3-dev", "Python's headers, for Horovod", has_headers),
    Package("libopenmpi-dev", "MPI's headers, for Horovod", has_command("mpicxx")),
    Package("openmpi-bin", "runs Horovod over MPI", has_command("mpirun")),
)
TESTS = (
    Package("git", "some tests look at a clean clone", has_command("git")),
    Package("chromium", "tests look at the report in a browser", has_command("chromium")),
    Package("nginx", "tests ask the proxy of the test charts", has_system_command("nginx")),
    Package("zsh", "tests ask what Tab completes in it", has_command("zsh")),
)

CONTAINERS = (
    Package("podman", "tests run jobs in containers", has_command("podman")),
    Package("runc", "starts containers on hybrid control groups too", has_command("runc")),
    Package("netavark", "connects containers", has_helper("netavark")),
    Package("aardvark-dns", "lets containers find each other by name", has_helper("aardvark-dns")),
    Package("iptables", "netavark sets its rules with it", has_system_command("iptables")),
    Package("mmdebstrap", "makes a base image without a registry", has_command("mmdebstrap")),
    Package("openssh-client", "the head of a job reaches its hosts", has_command("ssh")),
    Package("openssh-server", "hosts of a job", has_system_command("sshd")),
    Package("iproute2", "tests make networks of several hosts", has_system_command("ip")),
    Package("docker-registry", "tests push images to it", has_command("docker-registry")),
)
HOSTS = (
    Package("systemd", "first process of local AWS's hosts", has_command("systemctl")),
    Package("dbus", "systemctl talks to it on these hosts", has_command("dbus-daemon")),
)


def missing(packages: Sequence[Package]) -> list[Package]:
    return [package for package in packages if not package.is_there()]


def check_installable(packages: Sequence[Package]) -> str | None:
    """Return why the missing packages cannot be installed from here, or None."""
    if not packages:
        return None
    wanted = "; ".join(f"{package.name} ({package.why})" for package in packages)
    names = " ".join(package.name for package in packages)
    if not shutil.which("apt-get"):
        return (
            f"missing: {wanted}. There is no apt-get here to install them: install what these "
            "Debian packages bring with your own package manager, then run this again."
        )
    if os.geteuid() != 0 and not shutil.which("sudo"):
        return (
            f"missing: {wanted}. Installing them takes root, and there is no sudo. As root, run: "
            f"apt-get install {names}"
        )
    return None


def install(packages: Sequence[Package], *, log: Path, progress: Progress) -> None:
    """Install packages with apt-get, as root or through sudo.

    Raises:
        SetupError: apt-get failed, or something is missing still.
    """
    names = [package.name for package in packages]
    advice = f"Debian packages could not be installed: {' '.join(names)}."
    root = _become_root(names)
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    options = ["--yes", "--no-install-recommends", "-o", f"DPkg::Lock::Timeout={LOCK_TIMEOUT_S}"]
    # Root's shell after a plain `su` lacks the folders of dpkg's own tools.
    env = {"PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"}
    commands = (
        # Does nothing unless an installation was cut short, after which apt-get refuses to work.
        [*root, "dpkg", "--configure", "-a"],
        [*apt, "update"],
        [*apt, "install", *options, *names],
    )
    for command in commands:
        run(command, log=log, progress=progress, advice=advice, env=env)
    importlib.invalidate_caches()
    if still := missing(packages):
        raise SetupError(
            f"apt-get installed {' '.join(names)}, but what {still[0].name} brings is still not "
            f"there for {sys.executable} ({still[0].why}). Use Debian's own Python, or bring it "
            "along another way."
        )


def _become_root(names: Sequence[str]) -> list[str]:
    """Return the words before a command that needs root, asking for a password now if need be."""
    if os.geteuid() == 0:
        return []
    # sudo itself asks, on the terminal; later calls must not.
    sudo = shutil.which("sudo") or "sudo"
    if subprocess.run([sudo, "--validate"], check=False).returncode:
        raise SetupError(
            f"sudo refused. As root, run: apt-get install {' '.join(names)}\nthen run this again."
        )
    return [sudo, "--non-interactive"]
