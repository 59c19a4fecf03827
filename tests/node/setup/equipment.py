"""What a machine has, and what its cluster has made before."""

from __future__ import annotations

import json
from dataclasses import asdict

from tests.node.setup.host import Host
from tests.node.test_cluster_keys import make_keys


def pci(host: Host, *devices: tuple[str, str]) -> None:
    """Give the machine PCI devices, each of a vendor and a class."""
    for number, (vendor, kind) in enumerate(devices):
        folder = host.share / f"sys/pci/devices/0000:00:{number:02x}.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "class").write_text(f"{kind}\n")


def disks(host: Host, *names: str) -> None:
    """Give the machine NVMe disks of its own, beside the root volume."""
    models = dict.fromkeys(names, "Amazon EC2 NVMe Instance Storage        ")
    for name, model in {"nvme0n1": "Amazon Elastic Block Store", **models}.items():
        device = host.share / "sys/block" / name / "device"
        device.mkdir(parents=True)
        (device / "model").write_text(f"{model}\n")


def give_keys(host: Host, name: str = "secret.json") -> None:
    """Put keys into the secret, as an earlier head has."""
    (host.share / name).write_text(json.dumps(asdict(make_keys(host.folder / "keys"))))
