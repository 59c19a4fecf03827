"""EC2's instances, each with a host that runs, where hosts are switched on."""

from __future__ import annotations

import sys
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instances import Instance, InstanceState, Reservation

from localaws.ec2.instances import InstanceBackend
from localaws.hosts import fleet


class HostBackend(InstanceBackend):
    """EC2's state in one region."""

    def run_instances(self, *args: Any, **kwargs: Any) -> Reservation:
        """Start instances and their hosts.

        Raises:
            EC2ClientError: EC2 would refuse, or this machine cannot make a host.
        """
        reservation = super().run_instances(*args, **kwargs)
        if profile := kwargs.get("iam_instance_profile_name"):
            # moto gives it to the first one only.
            for instance in reservation.instances[1:]:
                self.associate_iam_instance_profile(instance.id, profile)
        if hosts := fleet.current():
            ids = [instance.id for instance in reservation.instances]
            try:
                for instance in reservation.instances:
                    hosts.start(instance)
            except OSError as error:
                sys.stderr.write(f"{ids}: {error}\n")
                self.terminate_instances(ids)
                raise EC2ClientError(
                    "Server.InternalError", f"Server.InternalError: no host could be made: {error}"
                ) from error
        return reservation

    def reboot_instances(self, instance_ids: list[str]) -> list[Instance]:
        found = super().reboot_instances(instance_ids)
        if hosts := fleet.current():
            for instance_id in instance_ids:
                if host := hosts.find(instance_id):
                    host.restart()
        return found

    def terminate_instances(self, instance_ids: list[str]) -> list[tuple[Instance, InstanceState]]:
        if hosts := fleet.current():
            # First the hosts: what takes an ended one's place must find its address free.
            for instance_id in instance_ids:
                hosts.end(instance_id)
        return super().terminate_instances(instance_ids)


def revive() -> None:
    """Boot hosts for instances of an earlier server: their files went with it."""
    from moto.ec2.models import ec2_backends

    hosts = fleet.current()
    assert hosts
    for regions in ec2_backends.values():
        for backend in regions.values():
            for instance in backend.all_instances():
                if instance.is_running():
                    hosts.start(instance)
