"""Which program starts the ranks, on which hosts, with which arguments."""

import os
import shutil
import sys
from typing import List, NamedTuple, Optional

from .errors import EntrypointError
from .job import Job
from .mpirun import RemoteShell, mpirun_command
from .smddprun import smddprun_command
from .torchrun import torchrun_command

STARTER = [sys.executable, os.path.dirname(os.path.abspath(__file__)), "rank"]
"""The same in every container of a job."""


class Launcher(NamedTuple):
    """A way to start the ranks."""

    name: str
    """The program, as messages call it."""
    on_every_host: bool
    """Whether each host starts its own ranks; else the head starts all, over SSH."""


# SMDDP's launcher: below torchrun the library leaves sums to NCCL
# (https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-framework-estimator.html).
_LAUNCHERS = {
    "mpi": Launcher("mpirun", on_every_host=False),
    "torchrun": Launcher("torchrun", on_every_host=True),
    "smddp": Launcher("smddprun", on_every_host=False),
}


def choose_launcher(distribution: str) -> Launcher:
    """Return the way of a distribution that `train` takes."""
    return _LAUNCHERS[distribution]


def launch_command(job: Job, launcher: Launcher, remote: Optional[RemoteShell]) -> List[str]:
    """Return the arguments to start here.

    Raises:
        EntrypointError: The image lacks the program.
    """
    if launcher.name == "torchrun":
        return torchrun_command(job, STARTER)
    make = smddprun_command if launcher.name == "smddprun" else mpirun_command
    return make(job, find_program("mpirun"), STARTER, remote, as_root=os.geteuid() == 0)


def find_program(name: str) -> str:
    """Return a program's absolute path.

    Raises:
        EntrypointError: The image lacks it.
    """
    # sshd lies where a plain user's PATH does not look.
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    path = shutil.which(name, path=places)
    if path is None:
        raise EntrypointError(f"{name}: is not in this image, but this job needs it")
    return os.path.abspath(path)
