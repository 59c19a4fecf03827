"""VPC endpoints that change: moto makes them, and knows few changes and no conflicts.

An interface endpoint has one network interface a subnet; a gateway endpoint one route a table.
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2 import urls
from moto.ec2.exceptions import EC2ClientError, InvalidParameter
from moto.ec2.models.vpcs import VPCEndPoint
from moto.ec2.responses import EC2Response

from localaws.network_dependencies import DependencyBackend

Request = dict[str, Any]


class EndpointBackend(DependencyBackend):
    """EC2's state in one region."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def create_vpc_endpoint(self, vpc_id: str, **request: Any) -> VPCEndPoint:  # type: ignore[override]
        kind = request.get("endpoint_type") or "Gateway"
        is_interface = kind == "Interface"
        subnet_ids = request.get("subnet_ids") or []
        if is_interface:
            self._check_zones(subnet_ids)
            if not request.get("security_group_ids"):
                default = self.get_default_security_group(vpc_id)
                request["security_group_ids"] = [default.id] if default else []
        private_dns = is_interface and request.get("private_dns_enabled")
        if private_dns:
            self._check_private_dns(vpc_id, request["service_name"])
        if not is_interface:
            self._check_routes(request["service_name"], request.get("route_table_ids") or [])
        request |= {"endpoint_type": kind, "private_dns_enabled": private_dns}
        made = super().create_vpc_endpoint(vpc_id, **{**request, "subnet_ids": []})
        made.subnet_ids = []
        self._add_subnets(made, subnet_ids)
        return made

    def change_vpc_endpoint(self, request: Request) -> None:
        """Change an endpoint in place, or not at all.

        Raises:
            EC2ClientError: A change conflicts with what is there.
        """
        endpoint = self.describe_vpc_endpoints([request["VpcEndpointId"]])[0]
        private_dns = request.get("PrivateDnsEnabled")
        if private_dns and not endpoint.private_dns_enabled:
            self._check_private_dns(endpoint.vpc_id, endpoint.service_name)
        removed = request.get("RemoveSubnetIds") or []
        added = request.get("AddSubnetIds") or []
        kept = [each for each in endpoint.subnet_ids or [] if each not in removed]
        self._check_zones([*kept, *added])
        self._check_routes(endpoint.service_name, request.get("AddRouteTableIds") or [])
        if private_dns is not None:
            endpoint.private_dns_enabled = private_dns
        if request.get("ResetPolicy"):
            endpoint.policy_document = json.dumps(VPCEndPoint.DEFAULT_POLICY)
        self._remove_subnets(endpoint, removed)
        self._add_subnets(endpoint, added)
        self._change_routes(endpoint, request)
        endpoint.modify(
            policy_doc=request.get("PolicyDocument"),
            add_subnets=None,
            remove_subnets=None,
            add_route_tables=request.get("AddRouteTableIds"),
            remove_route_tables=request.get("RemoveRouteTableIds"),
            add_security_groups=request.get("AddSecurityGroupIds"),
            remove_security_groups=request.get("RemoveSecurityGroupIds"),
        )
        self._set_groups(endpoint)

    def delete_vpc_endpoints(self, vpce_ids: list[str] | None = None) -> None:
        for endpoint_id in vpce_ids or []:
            (endpoint,) = self.describe_vpc_endpoints([endpoint_id])
            self._remove_subnets(endpoint, list(endpoint.subnet_ids or []))
            self._delete_routes(endpoint, endpoint.route_table_ids)
            # moto would list it for ever, as deleted.
            del self.vpc_end_points[endpoint.id]

    def _add_subnets(self, endpoint: VPCEndPoint, subnet_ids: list[str]) -> None:
        for subnet_id in subnet_ids:
            interface = self.create_network_interface(
                subnet_id,
                [],
                group_ids=endpoint.security_group_ids,
                description=f"VPC Endpoint Interface {endpoint.id}",
            )
            endpoint.subnet_ids = [*(endpoint.subnet_ids or []), subnet_id]
            endpoint.network_interface_ids.append(interface.id)

    def _remove_subnets(self, endpoint: VPCEndPoint, subnet_ids: list[str]) -> None:
        pairs = list(zip(endpoint.subnet_ids or [], endpoint.network_interface_ids, strict=True))
        for subnet_id, interface_id in pairs:
            if subnet_id in subnet_ids:
                self.delete_network_interface(interface_id)
        kept = [pair for pair in pairs if pair[0] not in subnet_ids]
        endpoint.subnet_ids = [subnet_id for subnet_id, _ in kept]
        endpoint.network_interface_ids = [interface_id for _, interface_id in kept]

    def _set_groups(self, endpoint: VPCEndPoint) -> None:
        for interface_id in endpoint.network_interface_ids:
            self.modify_network_interface_attribute(interface_id, endpoint.security_group_ids)

    def _change_routes(self, endpoint: VPCEndPoint, request: Request) -> None:
        self._delete_routes(endpoint, request.get("RemoveRouteTableIds") or [])
        for table_id in request.get("AddRouteTableIds") or []:
            self.create_route(
                table_id,
                None,
                destination_prefix_list_id=endpoint.destination_prefix_list_id,
                gateway_id=endpoint.id,
            )

    def _delete_routes(self, endpoint: VPCEndPoint, table_ids: list[str]) -> None:
        prefix_list = endpoint.destination_prefix_list_id
        for table_id in table_ids:
            # A table that was deleted has taken its routes along.
            if prefix_list and table_id in self.route_tables:
                self.delete_route(table_id, prefix_list)

    def _check_routes(self, service_name: str, table_ids: list[str]) -> None:
        taken = {
            table_id
            for endpoint in self.vpc_end_points.values()
            if endpoint.service_name == service_name
            for table_id in endpoint.route_table_ids
        }
        for table_id in table_ids:
            if table_id in taken:
                raise EC2ClientError(
                    "RouteAlreadyExists",
                    f"route table {table_id} already has a route with destination {service_name}",
                )

    def _check_zones(self, subnet_ids: list[str]) -> None:
        zones: set[str] = set()
        for subnet_id in subnet_ids:
            zone = self.get_subnet(subnet_id).availability_zone
            if zone in zones:
                raise EC2ClientError(
                    "DuplicateSubnetsInSameZone",
                    f"Found another VPC endpoint subnet in the availability zone of {subnet_id}",
                )
            zones.add(zone)

    def _check_private_dns(self, vpc_id: str, service_name: str) -> None:
        vpc = self.get_vpc(vpc_id)
        if not (_is_on(vpc.enable_dns_support) and _is_on(vpc.enable_dns_hostnames)):
            raise InvalidParameter(
                "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC "
                f"attributes set to true for {vpc_id}"
            )
        for other in self.vpc_end_points.values():
            same = (other.vpc_id, other.service_name) == (vpc_id, service_name)
            if same and other.private_dns_enabled:
                raise InvalidParameter(
                    "private-dns-enabled cannot be set because there is already a conflicting DNS "
                    f"domain for {service_name} in the VPC {vpc_id}: {other.id} has it"
                )


def _is_on(value: Any) -> bool:
    # moto keeps what a request said, as a string.
    return str(value).lower() == "true"


class EndpointResponse(EC2Response):
    """EC2's operations; only a change of an endpoint differs."""

    def modify_vpc_endpoint(self) -> ActionResult:
        names = (
            "VpcEndpointId",
            "PolicyDocument",
            *(
                f"{verb}{kind}Ids"
                for verb in ("Add", "Remove")
                for kind in ("Subnet", "RouteTable", "SecurityGroup")
            ),
        )
        request = {name: self._get_param(name) for name in names}
        for name in ("PrivateDnsEnabled", "ResetPolicy"):
            request[name] = self._get_bool_param(name)
        backend = self.ec2_backend
        assert isinstance(backend, EndpointBackend)
        backend.change_vpc_endpoint(request)
        return ActionResult({"Return": True})
