"""An image that is made in a second: the entry point alone, on this machine's own programs.

Its root holds our files only. podman is told, by its own configuration, to give each container
this machine's /usr and the project's virtual environment, read only. What runs is what runs in the
real image: entry point, sshd, mpirun, Horovod, trainer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from training.container_engine import Engine, find_engine

ROOT = Path(__file__).parents[3]

IMAGE = "localhost/mask-rcnn/lite:1"

DOCKERFILE = """\
FROM scratch
COPY root/ /
ENV PATH={path}
ENTRYPOINT ["python3", "/opt/mask-rcnn/entrypoint"]
"""

CONTAINERS_CONF = """\
[containers]
volumes = [{volumes}]
env = ["PYTHONPATH=/opt/mask-rcnn/src", "PYTHONDONTWRITEBYTECODE=1"]
[network]
network_backend = "netavark"
network_config_dir = "{networks}"
"""

STORAGE_CONF = """\
[storage]
driver = "overlay"
graphroot = "{root}/layers"
runroot = "{root}/run"
"""


@dataclass(frozen=True)
class Podman:
    """A podman with storage, networks and settings of its own."""

    root: Path

    @property
    def environ(self) -> dict[str, str]:
        return {
            "CONTAINERS_CONF": str(self.root / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.root / "storage.conf"),
        }

    @property
    def engine(self) -> Engine:
        return find_engine("podman", ("podman",))

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.engine.argv(*words),
            env={**os.environ, **self.environ},
            capture_output=True,
            text=True,
            check=False,
        )

    def names(self, *words: str) -> list[str]:
        """Return what is listed, by name."""
        return self.call(*words).stdout.split()

    def configure(self) -> None:
        networks = self.root / "networks"
        networks.mkdir()
        own = f"{ROOT / 'training'}:/opt/mask-rcnn/src/training:ro"
        programs = {"/usr", sys.base_prefix, str(Path(sys.prefix).resolve())}
        folders = sorted(
            folder for folder in programs if folder == "/usr" or not folder.startswith("/usr/")
        )
        volumes = [own, *(f"{folder}:{folder}:ro" for folder in folders)]
        texts = {
            "containers.conf": CONTAINERS_CONF.format(
                volumes=", ".join(f'"{volume}"' for volume in volumes), networks=networks
            ),
            "storage.conf": STORAGE_CONF.format(root=self.root),
        }
        for name, text in texts.items():
            (self.root / name).write_text(text)

    def build(self) -> str:
        """Build the image; return what podman said where it could not."""
        context = self.root / "context"
        make_root(context / "root")
        path = f"{Path(sys.prefix).resolve()}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        (context / "Dockerfile").write_text(DOCKERFILE.format(path=path))
        built = self.call("build", "--quiet", "--tag", IMAGE, str(context))
        if built.returncode:
            return built.stderr
        words = (
            "run",
            "--rm",
            *self.engine.limits(),
            "--entrypoint",
            "python3",
            IMAGE,
            "--version",
        )
        tried = self.call(*words)
        return tried.stderr if tried.returncode else ""

    def remove(self) -> None:
        self.call("rm", "--all", "--force")
        self.call("rmi", "--all", "--force")
        # podman mounts this folder over itself, and twice where two of its commands begin at once.
        umount = ["umount", "--lazy", self.root / "layers" / "overlay"]
        while subprocess.run(umount, check=False, capture_output=True).returncode == 0:
            pass
        shutil.rmtree(self.root)


def make_root(root: Path) -> None:
    """Make the root of the image's files."""
    folders = ("dev", "etc", "home/mask-rcnn", "opt/mask-rcnn", "opt/ml", "proc", "root", "sys")
    for folder in (*folders, "usr", "var"):
        (root / folder).mkdir(parents=True)
    (root / "run").mkdir()
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    for name in ("nsswitch.conf", "ld.so.cache", "alternatives", "openmpi"):
        here, there = Path("/etc") / name, root / "etc" / name
        if here.is_dir():
            shutil.copytree(here, there, symlinks=True)
        elif here.exists():
            shutil.copyfile(here, there)
    users = (
        "root:x:0:0::/root:/bin/sh\n"
        "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
        # Whom pods run as; docker/*/Dockerfile.
        "mask-rcnn:x:1000:1000::/home/mask-rcnn:/bin/sh\n"
    )
    (root / "etc/passwd").write_text(users)
    (root / "etc/group").write_text("root:x:0:\nmask-rcnn:x:1000:\nnogroup:x:65534:\n")
    # sshd takes an account without an entry for one that is locked.
    (root / "etc/shadow").write_text("root:*:19000:0:99999:7:::\nmask-rcnn:!:19000::::::\n")
    (root / "etc/shadow").chmod(0o640)
    home = root / "opt/mask-rcnn"
    shutil.copytree(ROOT / "docker/entrypoint", home / "entrypoint")
    shutil.copyfile(ROOT / "docker/horovod/adapter.py", home / "adapter.py")
    (home / "algorithm").write_text("horovod\n")
