"""The command line of Open MPI 4's mpirun."""

from typing import List, NamedTuple, Optional

from .job import Job


class RemoteShell(NamedTuple):
    """How mpirun reaches the other hosts."""

    ssh: str
    config: str
    """A file for `ssh -F`. Its path has no blank, since mpirun splits at them."""


def mpirun_command(
    job: Job, mpirun: str, starter: List[str], remote: Optional[RemoteShell], *, as_root: bool
) -> List[str]:
    """Return the arguments that start every rank.

    Nothing of it is the user's: host names, numbers, the interface and our own paths. mpirun puts
    parts of it into the command line of a remote shell.

    Args:
        job: The job.
        mpirun: Absolute path: mpirun then looks for its daemon in the same place on every host.
        starter: What starts a rank.
        remote: None where there is one host.
        as_root: Whether this process is root's, which mpirun wants to be told.
    """
    # Alone, a host needs no name, and it may have none that resolves.
    hosts = job.hosts if remote else ["localhost"]
    slots = ",".join(f"{host}:{job.processes_per_host}" for host in hosts)
    return [
        mpirun,
        *(["--allow-run-as-root"] if as_root else []),
        *("-np", str(job.world_size), "-H", slots, "--map-by", "slot"),
        # Ranks have threads of their own for loading; one core would starve them.
        *("--bind-to", "none"),
        "--tag-output",
        *(_remote_options(job, remote) if remote else []),
        *_interface_options(job.network_interface),
        # TCP and shared memory carry what little goes over MPI; NCCL has its own way to EFA.
        *_mca("pml", "ob1"),
        *_mca("btl", "^openib"),
        # Containers may not read one another's memory (ptrace), which this mechanism does.
        *_mca("btl_vader_single_copy_mechanism", "none"),
        *_mca("orte_abort_on_non_zero_status", "1"),
        *starter,
    ]


def _remote_options(job: Job, remote: RemoteShell) -> List[str]:
    return [
        *_mca("plm_rsh_agent", f"{remote.ssh} -F {remote.config}"),
        # The head alone has the key: workers do not start one another's daemons.
        *_mca("plm_rsh_no_tree_spawn", "1"),
        *_mca("plm_rsh_num_concurrent", str(len(job.hosts))),
    ]


def _interface_options(interface: Optional[str]) -> List[str]:
    if interface is None:
        return []
    return [*_mca("btl_tcp_if_include", interface), *_mca("oob_tcp_if_include", interface)]


def _mca(name: str, value: str) -> List[str]:
    return ["--mca", name, value]
