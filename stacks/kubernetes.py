"""KubernetesStack: an EKS cluster whose GPU nodes come and go with the jobs."""

from __future__ import annotations

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.data_access import may_read_and_write
from stacks.constructs.file_system_access import may_move_data
from stacks.constructs.gpu_node import ACCELERATOR_LABEL, accelerator, resources_of
from stacks.constructs.kubernetes_access import may_scale
from stacks.constructs.kubernetes_addons import SYSTEM_NAMESPACE, KubernetesAddons
from stacks.constructs.kubernetes_control_plane import (
    ControlPlaneOptions,
    KubernetesControlPlane,
)
from stacks.constructs.kubernetes_node_role import KubernetesNodeRole
from stacks.constructs.kubernetes_nodes import NODE_LABEL, KubernetesNodes, NodeGroupOptions
from stacks.constructs.node_launch import Market, NodeLaunch
from stacks.constructs.pod_access_point import PodAccessPoint
from stacks.constructs.pod_role import PodRole
from stacks.contract import write_outputs
from stacks.governance import tags_of
from stacks.settings import Settings
from stacks.settings.kubernetes import KubernetesSettings
from stacks.storage import StorageStack
from training.instances import Instance, find_instance
from training.outputs import KubernetesOutputs

NAMESPACE, SERVICE_ACCOUNT = "kubeflow", "mask-rcnn"
AUTOSCALER = "cluster-autoscaler"

ROOT_DEVICE = "/dev/xvda"
"""Of EKS's AMIs on Amazon Linux 2023."""


class KubernetesStack(Stack):
    """A control plane, system nodes that stay and GPU nodes from none to the most allowed.

    What runs inside is not here: namespace, volumes, device plugins, operator and autoscaler come
    from charts/cluster (`python -m training.kubernetes install`), since CloudFormation could apply
    them only with a Lambda.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        vpc: ec2.IVpc,
        security_group: ec2.ISecurityGroup,
        storage: StorageStack,
        **stack_options: Any,
    ) -> None:
        """Build it.

        Args:
            settings: All of them.
            vpc: With its private subnets.
            security_group: Members of it reach each other, the API and the file systems.
            storage: Of data, logs and models.
            stack_options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **stack_options)
        self._settings = settings
        self._vpc = vpc
        self._security_group = security_group
        self._storage = storage
        self._control_plane = self._make_control_plane()
        self._addons = KubernetesAddons(
            self,
            "Addons",
            cluster=self._control_plane.cluster,
            cluster_name=self._name,
            versions=self._kubernetes.addon_versions,
            vpc=vpc,
            project=settings.general.project,
        )
        self._node_role = KubernetesNodeRole(
            self,
            "Nodes",
            cluster_name=self._name,
            # The driver of EFS mounts with the role of its node.
            root_of=storage.shared.file_system if settings.efs.root_access == "iam" else None,
        )
        system = self._make_system_nodes()
        self._gpu_nodes = self._make_gpu_nodes()
        self._addons.add_to_nodes(
            system.group,
            shared=storage.shared.file_system,
            has_lustre=storage.fast is not None,
        )
        self._access_point = PodAccessPoint(
            self,
            "AccessPoint",
            file_system=storage.shared.file_system,
            tags={**tags_of(settings.general), "Name": f"{self._name}-pods"},
        )
        self._autoscaler = self._make_autoscaler_role()
        self._jobs = self._make_job_role()
        write_outputs(self, self._outputs())

    @property
    def _kubernetes(self) -> KubernetesSettings:
        return self._settings.kubernetes

    @property
    def _name(self) -> str:
        return self._kubernetes.name

    @property
    def _gpu_instance(self) -> Instance:
        return find_instance(self._kubernetes.gpu_instance_type)

    @property
    def _gpu_subnet(self) -> ec2.ISubnet:
        return self._vpc.private_subnets[self._settings.kubernetes_zone - 1]

    def _make_control_plane(self) -> KubernetesControlPlane:
        settings = self._kubernetes
        return KubernetesControlPlane(
            self,
            "ControlPlane",
            options=ControlPlaneOptions(
                name=settings.name,
                version=settings.version,
                api_cidrs=[str(network) for network in settings.api_cidrs],
                admin_arns=settings.admin_arns,
                log_retention_days=settings.log_retention_days,
                is_protected=self._settings.general.termination_protection,
            ),
            vpc=self._vpc,
            security_group=self._security_group,
        )

    def _make_system_nodes(self) -> KubernetesNodes:
        settings = self._kubernetes
        return self._nodes(
            "SystemGroup",
            launch=self._launch("system", settings.system_instance_type),
            subnets=self._vpc.private_subnets,
            options=NodeGroupOptions(
                ami_type="AL2023_x86_64_STANDARD",
                version=settings.version,
                release=settings.node_release,
                least=settings.system_nodes,
                most=settings.most_system_nodes,
                labels={NODE_LABEL: "system"},
            ),
        )

    def _make_gpu_nodes(self) -> KubernetesNodes:
        settings, instance = self._kubernetes, self._gpu_instance
        return self._nodes(
            "GpuGroup",
            launch=self._launch(
                "gpu",
                instance.name,
                efa=settings.gpu_efa,
                placement_group=self._make_placement_group(),
                market=_market(settings),
                reservation_id=settings.capacity_reservation_id,
            ),
            subnets=[self._gpu_subnet],
            options=NodeGroupOptions(
                ami_type="AL2023_x86_64_NVIDIA",
                version=settings.version,
                release=settings.node_release,
                least=0,
                most=settings.max_nodes,
                labels={NODE_LABEL: "gpu", ACCELERATOR_LABEL: accelerator(instance)},
                is_tainted=True,
                has_nvme=instance.nvme_gb > 0,
                resources=resources_of(instance, efa=settings.gpu_efa, gib=settings.volume_gib),
            ),
        )

    def _make_placement_group(self) -> str | None:
        if not self._kubernetes.has_placement_group:
            return None
        # L1: its Ref is the name that a launch template wants.
        return ec2.CfnPlacementGroup(self, "Placement", strategy="cluster").ref

    def _nodes(self, construct_id: str, **rest: Any) -> KubernetesNodes:
        nodes = KubernetesNodes(
            self,
            construct_id,
            cluster=self._control_plane.cluster,
            role_arn=self._node_role.role.role_arn,
            tags=tags_of(self._settings.general),
            **rest,
        )
        # A node is ready only with these, and joins with its role.
        nodes.group.node.add_dependency(*self._addons.of_every_node, self._node_role)
        return nodes

    def _launch(self, kind: str, instance_type: str, **rest: Any) -> NodeLaunch:
        groups = (self._security_group, self._control_plane.balancer_group)
        return NodeLaunch(
            **{
                "name": f"{self._name}-{kind}",
                "instance_type": instance_type,
                "ami_id": None,
                "root_device": ROOT_DEVICE,
                "volume_gib": self._kubernetes.volume_gib,
                "profile_arn": None,
                "security_group_ids": [group.security_group_id for group in groups],
                "efa": 0,
                "tags": tags_of(self._settings.general),
                **rest,
            }
        )

    def _make_autoscaler_role(self) -> iam.Role:
        return self._pod_role(
            "Autoscaler",
            namespace=SYSTEM_NAMESPACE,
            service_account=AUTOSCALER,
            description="Starts and ends nodes of the Kubernetes cluster",
            statements=may_scale(cluster_name=self._name),
        )

    def _make_job_role(self) -> iam.Role:
        fast = self._storage.fast
        return self._pod_role(
            "Jobs",
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            description="Jobs in the Kubernetes cluster read and write the training bucket",
            statements=[
                *may_read_and_write(self._storage.bucket, self._storage.prefix),
                # For python -m training.data stage --on eks.
                *(may_move_data(fast.file_system_id) if fast else []),
            ],
        )

    def _pod_role(
        self, construct_id: str, *, namespace: str, service_account: str, **rest: Any
    ) -> iam.Role:
        made = PodRole(
            self,
            construct_id,
            cluster_name=self._name,
            namespace=namespace,
            service_account=service_account,
            **rest,
        )
        association = eks.CfnPodIdentityAssociation(
            made,
            "Association",
            cluster_name=self._control_plane.cluster.ref,
            namespace=namespace,
            service_account=service_account,
            role_arn=made.role.role_arn,
        )
        association.node.add_dependency(made.policy)
        return made.role

    def _outputs(self) -> KubernetesOutputs:
        settings = self._kubernetes
        return KubernetesOutputs(
            cluster_name=self._control_plane.cluster.ref,
            cluster_arn=self._control_plane.cluster.attr_arn,
            api_access="public" if settings.is_public else "private",
            kubernetes_version=settings.version,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            gpu_node_group=self._gpu_nodes.name,
            gpu_instance_type=settings.gpu_instance_type,
            most_gpu_nodes=str(settings.max_nodes),
            gpu_volume_gib=str(settings.volume_gib),
            gpu_zones=(self._gpu_subnet.availability_zone,),
            efs_access_point_id=self._access_point.id,
            efa=str(settings.gpu_efa > 0).lower(),
            spot=str(settings.spot).lower(),
            system_instance_type=settings.system_instance_type,
            system_nodes=str(settings.system_nodes),
            autoscaler_role_arn=self._autoscaler.role_arn,
            job_role_arn=self._jobs.role_arn,
            node_role_arn=self._node_role.role.role_arn,
            log_group_name=self._control_plane.log_group.log_group_name,
        )


def _market(settings: KubernetesSettings) -> Market:
    if settings.capacity_block:
        return "capacity-block"
    return "spot" if settings.spot else "on-demand"
