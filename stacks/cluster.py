"""ClusterStack: EC2 nodes that train."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.cluster_secrets import ClusterSecrets
from stacks.constructs.control_document import ControlDocument
from stacks.constructs.file_system_access import may_move_data
from stacks.constructs.newest_ami import newest
from stacks.constructs.node_group import GroupSize, NodeGroup
from stacks.constructs.node_launch import Market, NodeLaunch
from stacks.constructs.node_programs import NodePrograms
from stacks.constructs.node_role import NodeRights, NodeRole, may_conduct, may_take_address
from stacks.constructs.node_start import (
    EFS_MOUNT,
    FSX_MOUNT,
    EventNames,
    LustreMount,
    NodeValues,
    SharedMount,
    render,
)
from stacks.constructs.own_job_events import DETAIL_TYPE, SOURCE, may_tell
from stacks.constructs.ssh_access import SshAccess
from stacks.contract import write_outputs
from stacks.governance import tags_of
from stacks.settings import Settings
from stacks.settings.cluster import ClusterSettings
from stacks.settings.deep_learning_ami import base_ami
from stacks.storage import StorageStack
from training.outputs import ClusterOutputs

HEAD, WORKER = "head", "worker"


class ClusterStack(Stack):
    """A head node that conducts jobs and worker nodes that train, each in a group of its own."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        vpc: ec2.IVpc,
        public_subnets: Sequence[ec2.ISubnet],
        security_group: ec2.ISecurityGroup,
        storage: StorageStack,
        **stack_options: Any,
    ) -> None:
        """Build it.

        Args:
            settings: All of them.
            vpc: With its private subnets.
            public_subnets: Where a head with SSH is.
            security_group: Members of it reach each other and the file systems.
            storage: Of data, logs and models.
            stack_options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **stack_options)
        self._settings = settings
        self._vpc = vpc
        self._public_subnets = public_subnets
        self._storage = storage
        self._groups = [security_group]
        self._names = {
            HEAD: f"{settings.cluster.name}-head",
            WORKER: f"{settings.cluster.name}-workers",
        }
        self._secrets = ClusterSecrets(
            self, "Secrets", retention_days=settings.cluster.log_retention_days
        )
        self._programs = NodePrograms(self, "Programs", runs_in=settings.cluster.runs_in)
        self._document = ControlDocument(self, "Control")
        self._ssh = self._make_ssh()
        self._placement_group = self._make_placement_group()
        self._make_roles()
        self._make_groups()
        write_outputs(self, self._outputs())

    @property
    def _cluster(self) -> ClusterSettings:
        return self._settings.cluster

    def _make_ssh(self) -> SshAccess | None:
        if not self._cluster.has_ssh:
            return None
        return SshAccess(self, "Ssh", vpc=self._vpc, locations=self._cluster.ssh_location)

    def _make_placement_group(self) -> str | None:
        if not self._cluster.has_placement_group:
            return None
        # L1: its Ref is the name that a launch template wants.
        return ec2.CfnPlacementGroup(self, "Placement", strategy="cluster").ref

    def _make_roles(self) -> None:
        project, storage = self._settings.general.project, self._storage
        rights = NodeRights(
            project=project,
            stack_id=self.stack_id,
            programs=self._programs.may_read(),
            bucket=storage.bucket,
            prefix=storage.prefix,
            log_group=self._secrets.log_group,
            key=self._secrets.key,
            secret_arn=self._secrets.secret_arn,
            root_of=storage.shared.file_system if self._efs_asks_for_role else None,
        )
        self._head_role = NodeRole(
            self,
            "Head",
            node=HEAD,
            rights=rights,
            may_also=[
                *may_conduct(
                    head_group=self._names[HEAD],
                    worker_group=self._names[WORKER],
                    secret_arn=self._secrets.secret_arn,
                    key=self._secrets.key,
                ),
                *(may_take_address(self._ssh.allocation_id, project=project) if self._ssh else []),
                # For python -m training.data stage --on ec2.
                *(may_move_data(storage.fast.file_system_id) if storage.fast else []),
                *([may_tell()] if self._is_somebody_told else []),
            ],
        )
        self._worker_role = NodeRole(self, "Worker", node=WORKER, rights=rights)

    @property
    def _efs_asks_for_role(self) -> bool:
        return self._settings.efs.root_access == "iam"

    @property
    def _is_somebody_told(self) -> bool:
        """Whether there is NotificationStack, and so a rule for the head's events."""
        return self._settings.notifications.is_wanted

    def _make_groups(self) -> None:
        cluster = self._cluster
        head = NodeGroup(
            self,
            "HeadGroup",
            name=self._names[HEAD],
            size=GroupSize(least=1, wanted=1, most=1),
            subnet=self._head_subnet(),
            launch=self._launch_of_head(),
            user_data=self._user_data(HEAD),
            setup_minutes=cluster.setup_minutes,
        )
        workers = NodeGroup(
            self,
            "WorkerGroup",
            name=self._names[WORKER],
            size=GroupSize(least=0, wanted=cluster.workers, most=cluster.max_workers),
            subnet=self._subnet,
            launch=self._launch_of_worker(),
            user_data=self._user_data(WORKER),
            setup_minutes=cluster.setup_minutes,
        )
        # A node's set-up begins with the first boot, and takes its role's policies.
        head.node.add_dependency(self._head_role)
        workers.node.add_dependency(self._worker_role)

    @property
    def _subnet(self) -> ec2.ISubnet:
        return self._vpc.private_subnets[self._settings.cluster_zone - 1]

    def _head_subnet(self) -> ec2.ISubnet:
        """Return a public subnet for a head with SSH: that of the cluster's zone, if it has one."""
        if self._ssh is None:
            return self._subnet
        index = self._settings.network.public_subnet_in(self._settings.cluster_zone)
        return self._public_subnets[index or 0]

    def _launch_of_head(self) -> NodeLaunch:
        cluster = self._cluster
        groups = [*self._groups, *([self._ssh.security_group] if self._ssh else [])]
        return self._launch(
            HEAD,
            cluster.head_instance_type,
            profile_arn=self._head_role.profile_arn,
            security_group_ids=[group.security_group_id for group in groups],
            efa=cluster.head_efa,
            # A head that only conducts would only make the group harder to place.
            placement_group=self._placement_group if cluster.head_trains else None,
            public_address=self._ssh is not None,
        )

    def _launch_of_worker(self) -> NodeLaunch:
        cluster = self._cluster
        return self._launch(
            WORKER,
            cluster.worker_instance_type,
            profile_arn=self._worker_role.profile_arn,
            security_group_ids=[group.security_group_id for group in self._groups],
            efa=cluster.worker_efa,
            placement_group=self._placement_group,
            market=_market(cluster),
            reservation_id=cluster.capacity_reservation_id,
        )

    def _launch(self, node: str, instance_type: str, **rest: Any) -> NodeLaunch:
        cluster = self._cluster
        ami = base_ami(instance_type, like=cluster.worker_instance_type)
        return NodeLaunch(
            name=f"{cluster.name}-{node}",
            instance_type=instance_type,
            ami_id=cluster.ami or newest(self, ami),
            root_device=cluster.root_device or ami.root_device,
            volume_gib=cluster.volume_gib,
            key_name=cluster.key_name,
            tags=tags_of(self._settings.general),
            **rest,
        )

    def _user_data(self, node: str) -> Callable[[str], str]:
        return lambda logical_id: render(self._values(node, logical_id), self._programs)

    def _values(self, node: str, logical_id: str) -> NodeValues:
        shared, fast = self._storage.outputs.efs_id, self._storage.fast
        return NodeValues(
            cluster=self._cluster.name,
            role=node,
            region=Aws.REGION,
            stack=self.stack_name,
            resource=logical_id,
            head_group=self._names[HEAD],
            worker_group=self._names[WORKER],
            efs=SharedMount(
                id=shared,
                dns=f"{shared}.efs.{Aws.REGION}.{Aws.URL_SUFFIX}",
                iam=self._efs_asks_for_role,
            ),
            fsx=(
                LustreMount(id=fast.file_system_id, dns=fast.dns_name, mount_name=fast.mount_name)
                if fast
                else None
            ),
            key_secret_arn=self._secrets.secret_arn,
            log_group=self._secrets.log_group.log_group_name,
            runs_in=self._cluster.runs_in,
            environment=self._cluster.environment,
            elastic_ip_allocation=(self._ssh.allocation_id if self._ssh and node == HEAD else None),
            setup_minutes=self._cluster.setup_minutes,
            events=(
                EventNames(source=SOURCE, detail_type=DETAIL_TYPE)
                if self._is_somebody_told and node == HEAD
                else None
            ),
        )

    def _outputs(self) -> ClusterOutputs:
        cluster = self._cluster
        return ClusterOutputs(
            cluster_name=cluster.name,
            head_group_name=self._names[HEAD],
            worker_group_name=self._names[WORKER],
            head_instance_type=cluster.head_instance_type,
            worker_instance_type=cluster.worker_instance_type,
            most_workers=str(cluster.max_workers),
            runs_in=cluster.runs_in,
            document_name=self._document.name,
            log_group_name=self._secrets.log_group.log_group_name,
            key_secret_arn=self._secrets.secret_arn,
            zone=self._subnet.availability_zone,
            efs_mount=EFS_MOUNT,
            fsx_mount=FSX_MOUNT if self._storage.fast else None,
            head_role_arn=self._head_role.role.role_arn,
            worker_role_arn=self._worker_role.role.role_arn,
            head_address=self._ssh.address if self._ssh else None,
            spot=str(cluster.spot).lower(),
        )


def _market(cluster: ClusterSettings) -> Market:
    if cluster.capacity_block:
        return "capacity-block"
    return "spot" if cluster.spot else "on-demand"
