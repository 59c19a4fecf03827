"""Which checks apply."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from typing import Any

import pytest

from stacks.settings import Settings
from tests.training.preflight.stacks.conftest import ACCOUNT, IDENTITY, REGION
from training.aws.clients import Clients
from training.preflight import stacks
from training.preflight.check import Check
from training.preflight.efs_policy import EfsPolicyAdmitsJobs
from training.preflight.side_by_side import CODES
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.place import Place
from training.preflight.stacks.registry import ALL, checks, known_codes

VPC = {
    "vpc_id": "vpc-01234567",
    "private_subnets": "subnet-00000001:us-east-1a:rtb-01234567,"
    "subnet-00000002:us-east-1b:rtb-01234567",
}
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:git-AbCdEf"
GROUP = "sg-01234567"
EFS = {"efs_id": "fs-01234567"}
FSX = {
    "fsx_id": "fs-01234567",
    "fsx_mount_name": "abcdefgh",
    "fsx_security_group_id": GROUP,
}
NO_INTERNET = {"internet_access": "false", "notebook_wheels": "wheels"}
CLUSTER = {"planned_instance_type": "ml.p4d.24xlarge", "planned_instance_count": 2}


def applying(clients: Clients, context: dict[str, Any]) -> Counter[str]:
    place = Place(IDENTITY, REGION, "hnb659fds", REGION, clients)
    deployment = Deployment(context, Settings.from_context(context), place)
    return Counter(type(check).__name__ for check in checks(deployment))


def of(names: str, quotas: int = 0) -> Counter[str]:
    return Counter(names.split()) + Counter({"QuotaSuffices": quotas})


ALWAYS = of(
    "AccountIsBootstrapped LauncherLooksThere NotebookTypeIsAllowed ProtectionStays "
    "RegionHasNotebooks SettingsStay SettingsSuitRegion StacksCanBeDeployed "
    "GroupNamesAreFree NewestAmiIsThere NodeQuotasSuffice NodeTypeIsOffered NodeTypeIsOffered "
    # KubernetesStack
    "KubernetesIsSupported KubernetesIsRaisedByOne ControlPlaneHasZones AdminsAreNamed "
    "NodeQuotasSuffice NodeTypeIsOffered NodeTypeIsOffered"
)
NEW_VPC = of("ZonesAreThere VpcAddressesAreFree", quotas=4)
OLD_VPC = of(
    "NothingOfOursIsNamed VpcIsFit SubnetsAreWhereSaid RoutesLeadWhereSaid S3EndpointIsAsSaid "
    "SubnetsHaveRoom NodesCanMountEfs ControlPlaneHasRoom"
)
NEW_FSX = of("FsxRolesCanBeMade", quotas=1)
OLD_EFS = of("NothingOfOursIsNamed EfsIsFit MountTargetsAreAsSaid EfsPolicyAdmitsJobs")
OLD_BUCKET = of("NothingOfOursIsNamed BucketIsFit")
OLD_FSX = of("NothingOfOursIsNamed LustreIsFit LustreAdmitsJobs")


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, NEW_VPC + NEW_FSX),
        ({"nat_gateways": 0}, NEW_VPC + NEW_FSX - of("", quotas=2)),
        (
            NO_INTERNET,
            NEW_VPC
            + NEW_FSX
            - of("", quotas=3)
            + of(
                "EndpointServicesAreOffered WheelsAreThere NodesReachServices NodesReachServices", 1
            ),
        ),
        (VPC, OLD_VPC + NEW_FSX),
        (
            VPC | {"training_security_group_id": GROUP},
            OLD_VPC + NEW_FSX + of("TrainingGroupIsFit"),
        ),
        (
            VPC | NO_INTERNET | {"interface_endpoints": "logs"},
            OLD_VPC
            + NEW_FSX
            + of(
                "EndpointServicesAreOffered EndpointsAreNotThereYet EndpointsAreThere "
                "WheelsAreThere NodesReachServices NodesReachServices",
                quotas=1,
            ),
        ),
        (CLUSTER, NEW_VPC + NEW_FSX + of("InstanceTypeIsOffered")),
        (EFS, NEW_VPC + NEW_FSX + OLD_EFS),
        (
            EFS | {"efs_mount_targets": "existing", "efs_security_group_id": GROUP},
            NEW_VPC + NEW_FSX + OLD_EFS + of("MountTargetsAdmitJobs"),
        ),
        ({"fsx": "none"}, NEW_VPC),
        (FSX, NEW_VPC + OLD_FSX),
        ({"bucket_name": "mine"}, NEW_VPC + NEW_FSX + OLD_BUCKET + of("BucketCanBeLinked")),
        (
            {"bucket_name": "mine", "fsx_bucket_link": "none"},
            NEW_VPC + NEW_FSX + OLD_BUCKET,
        ),
        ({"bucket_name": "mine", **FSX}, NEW_VPC + OLD_FSX + of("BucketIsFit")),
        (
            {"bucket_name": "mine", "bucket_encryption_key_arn": KEY},
            NEW_VPC + NEW_FSX + OLD_BUCKET + of("BucketCanBeLinked KeyIsFit KeyAdmitsFsx"),
        ),
        ({"encryption_key_arn": KEY}, NEW_VPC + NEW_FSX + of("KeyIsFit KeyAdmitsFsx")),
        ({"encryption_key_arn": KEY, "fsx": "none"}, NEW_VPC + of("KeyIsFit")),
        ({"bucket_access_logs": "my-logs"}, NEW_VPC + NEW_FSX + of("LogBucketIsThere")),
        (
            {"permissions_boundary": "arn:aws:iam::aws:policy/PowerUserAccess"},
            NEW_VPC + NEW_FSX + of("BoundaryIsThere"),
        ),
        (
            {
                "notebook_git_repository": "https://github.com/me/it",
                "notebook_git_secret_arn": SECRET,
            },
            NEW_VPC + NEW_FSX + of("GitSecretIsThere"),
        ),
        ({"cluster_key_name": "mine"}, NEW_VPC + NEW_FSX + of("KeyPairIsThere")),
        (
            {"cluster_ssh_location": "203.0.113.0/24"},
            NEW_VPC + NEW_FSX + of("SshIsNarrow", quotas=1),
        ),
        (
            # A head with GPUs of its own may take another line of AMIs.
            {
                "cluster_head_instance_type": "p3.16xlarge",
                "cluster_worker_instance_type": "p4d.24xlarge",
            },
            NEW_VPC + NEW_FSX + of("PlacementIsOfOneType NewestAmiIsThere"),
        ),
        (
            {"cluster_capacity_reservation_id": "cr-0123456789abcdef0"},
            NEW_VPC + NEW_FSX + of("ReservationIsFit"),
        ),
        (
            {"eks_capacity_reservation_id": "cr-0123456789abcdef0"},
            NEW_VPC + NEW_FSX + of("ReservationIsFit"),
        ),
        ({"eks_api_cidrs": "203.0.113.0/24"}, NEW_VPC + NEW_FSX + of("ApiIsNarrow")),
    ],
    ids=lambda value: ",".join(value) or "defaults" if type(value) is dict else "",
)
def test_each_setting_brings_its_checks(
    clients: Clients, context: dict[str, Any], expected: Counter[str]
) -> None:
    assert applying(clients, context) == ALWAYS + expected


def test_an_ami_of_the_users_own_is_looked_at_instead_of_awss(clients: Clients) -> None:
    found = applying(clients, {"cluster_ami": "ami-01234567"})
    assert (found["AmiIsFit"], found["NewestAmiIsThere"]) == (1, 0)


def test_all_checks_of_the_package_are_listed() -> None:
    for module in pkgutil.iter_modules(stacks.__path__):
        importlib.import_module(f"{stacks.__name__}.{module.name}")
    defined = {
        check for check in _subclasses(Check) if check.__module__.startswith(stacks.__name__)
    }
    assert set(ALL) == defined | {EfsPolicyAdmitsJobs}  # That one is of jobs, too.
    assert len(ALL) == len(set(ALL))


def _subclasses(base: type) -> set[type]:
    direct = set(base.__subclasses__())
    return direct | {below for each in direct for below in _subclasses(each)}


def test_a_code_belongs_to_one_check() -> None:
    codes = Counter(code for check in ALL for code in check.codes)
    assert [code for code, times in codes.items() if times > 1] == []
    assert known_codes() == {*codes, *CODES}


def test_every_request_only_reads() -> None:
    reading = ("Describe", "Get", "List", "Simulate")
    actions = {action for check in ALL for action in check.actions}
    assert all(action.partition(":")[2].startswith(reading) for action in actions)


def test_every_check_says_in_a_sentence_what_holds_if_it_finds_nothing() -> None:
    assert all((check.__doc__ or "").partition("\n")[0].endswith(".") for check in ALL)
