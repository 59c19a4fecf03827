"""One host's part of an all-reduce: `python3 all_reduce_rank.py`, a file by itself.

It runs where torch is: in a job's image, or in the nodes' own environment. It reads lines of JSON:
what it is to do, and then where the others meet; the first host says that. The first rank prints
the result.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

ROUNDS, WARM_UP = 8, 2

SIOCGIFADDR = 0x8915
"""Asks the kernel for an interface's IPv4 address: netdevice(7)."""


def interface_of(address: str) -> str:
    """Return the name of the network interface that has an address.

    Else gloo and NCCL pick one, and it may be the bridge of the containers:
    https://github.com/horovod/horovod/issues/310
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            asked = array.array("B", struct.pack("256s", name.encode()[:15]))
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(probe.fileno(), SIOCGIFADDR, asked.tobytes())
                if socket.inet_ntoa(answer[20:24]) == address:
                    return name
    raise OSError(f"no network interface has the address {address}")


def run_rank(work: dict[str, Any], store: Any = None) -> dict[str, Any]:
    """Reduce `bytes` of float32 over all ranks some times; return what it took.

    Args:
        work: `rank`, `world`, `local`, `backend`, `bytes`, `timeout_s`, and, without a store,
            `meet`: [address, port].
        store: Where the ranks meet.
    """
    import torch
    import torch.distributed as dist
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    limit = timedelta(seconds=work["timeout_s"])
    rank, world = work["rank"], work["world"]
    if store is None:
        address, port = work["meet"]
        store = TCPStore(address, port, is_master=False, timeout=limit)
    is_gpu = work["backend"] == "nccl"
    device = torch.device("cuda", work["local"]) if is_gpu else torch.device("cpu")
    if is_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group(
        work["backend"], store=store, rank=rank, world_size=world, timeout=limit
    )
    size = work["bytes"] // 4
    data = torch.empty(size, device=device)
    seconds = []
    for number in range(WARM_UP + ROUNDS):
        data.fill_(rank + 1.0)
        dist.barrier()
        _wait(device)
        begin = time.perf_counter()
        dist.all_reduce(data)
        _wait(device)
        if number >= WARM_UP:
            seconds.append(time.perf_counter() - begin)
    right = world * (world + 1) / 2
    is_right = bool((data == right).all())
    dist.barrier()
    dist.destroy_process_group()
    return {"seconds": sorted(seconds)[len(seconds) // 2], "bytes": size * 4, "is_right": is_right}


def _wait(device: Any) -> None:
    if device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)


def main() -> None:
    """Run this host's ranks: the first in this process, further ones each in its own."""
    work = json.loads(sys.stdin.readline())
    if "local" in work:  # A further rank of this host.
        run_rank(work)
        return
    name = interface_of(work["address"])
    os.environ.update(GLOO_SOCKET_IFNAME=name, NCCL_SOCKET_IFNAME=name)
    store = None
    if work["first"] == 0:
        from torch.distributed import TCPStore  # type: ignore[attr-defined]

        limit = timedelta(seconds=work["timeout_s"])
        # Port 0: one that is free, and nobody else's in between.
        store = TCPStore(work["address"], 0, is_master=True, wait_for_workers=False, timeout=limit)
        meet = [work["address"], store.port]
        _say({"meet": meet})
    else:
        meet = json.loads(sys.stdin.readline())["meet"]
    ranks = [
        {**work, "rank": work["first"] + local, "local": local, "meet": meet}
        for local in range(work["slots"])
    ]
    others = [_start(rank) for rank in ranks[1:]]
    result = run_rank(ranks[0], store)
    failures = [process.wait() for process in others]
    if any(failures):
        sys.exit(f"ranks of this host failed: {failures}")
    _say(result)


def _say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _start(rank: dict[str, Any]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(rank).encode())
    process.stdin.close()
    return process


if __name__ == "__main__":
    main()
