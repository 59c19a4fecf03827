"""What is sent to the cluster: a release of a chart, which is an MPIJob and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.outputs import KubernetesOutputs, NetworkOutputs, StorageOutputs
from training.platforms.common.secrets import secret_names, without_secrets
from training.platforms.eks.charts import FOLDER
from training.platforms.eks.machines import Machines
from training.platforms.eks.options import EksOptions
from training.platforms.eks.places import EFS_MOUNT, Places

SPARE = "TF_DEVICE_MIN_SYS_MEMORY_IN_MB"
"""The variable that the charts' tf_device_min_sys_mem_mb becomes; a job may set it itself."""


@dataclass(frozen=True, kw_only=True)
class EksRequest:
    """One release of one of our charts."""

    chart: str
    """The name of its folder below `charts/`."""
    values: Mapping[str, Any]
    manifest: str
    """The objects, as helm renders them and sends them."""
    network: NetworkOutputs
    storage: StorageOutputs
    cluster: KubernetesOutputs
    options: EksOptions
    on: Machines
    places: Places
    account: str
    region: str
    resume: bool

    @property
    def job_name(self) -> str:
        """Also the release's name, and the MPIJob's."""
        return str(self.values["job"]["name"])

    @property
    def namespace(self) -> str:
        return self.cluster.namespace

    @property
    def image(self) -> str:
        return str(self.values["maskrcnn"]["image"])

    @property
    def log(self) -> str:
        """The log folder as <file system>:<path>; it is on EFS whatever the data source."""
        return f"{self.storage.efs_id}:{self.places.log.removeprefix(EFS_MOUNT)}"

    @property
    def fingerprint(self) -> str:
        return str(self.values["job"]["fingerprint"])

    @property
    def distribution(self) -> str:
        return str(self.values["job"]["distribution"])

    @property
    def chart_folder(self) -> Path:
        return FOLDER / self.chart

    def to_json(self) -> dict[str, Any]:
        """Return what is sent, exactly, but for the values of variables that look like secrets."""
        job = self.values["job"]
        environment: Mapping[str, str] = job["environment"]
        shown = {**job, "environment": without_secrets(environment)}
        return {
            "release": self.job_name,
            "namespace": self.namespace,
            "chart": self.chart,
            "values": {**self.values, "job": shown},
            "manifest": _hidden(self.manifest, environment),
        }

    def summary(self) -> Iterator[tuple[str, str]]:
        """See `training.platforms.api.Summarized`."""
        yield "where", f"account {self.account}, {self.region}, EKS {self.cluster.cluster_name}"
        yield "machines", self._machines()
        if spare_mib := self.values["maskrcnn"].get("tf_device_min_sys_mem_mb"):
            said = self.values["job"]["environment"].get(SPARE, spare_mib)
            yield "gpu memory", f"{said} MiB of each GPU are for cuDNN and NCCL ({SPARE})"
        yield "data", self._data()
        yield "log", f"EFS {self.storage.efs_id}, {self.places.log}"

    def _machines(self) -> str:
        on = self.on
        return (
            f"{on.workers:,} x {on.type} = {on.workers * on.instance.gpus:,} GPUs: "
            f"{on.world_size:,} processes; the launcher, on a system node, trains nothing"
        )

    def _data(self) -> str:
        places = self.places
        if places.is_copied:
            return f"{places.data}, which each node copies to its own disk first"
        if places.data_fs == "efs":
            return f"EFS {self.storage.efs_id}, {places.data}"
        return f"FSx for Lustre {self.storage.fsx_id}, {places.data}"


def _hidden(manifest: str, environment: Mapping[str, str]) -> str:
    """Return a manifest whose variables that look like secrets have no values."""
    names = secret_names(environment)
    if not names:
        return manifest
    import yaml

    from training.platforms.common.secrets import HIDDEN

    documents = [each for each in yaml.safe_load_all(manifest) if each]
    for document in documents:
        for variable in _variables(document):
            if variable.get("name") in names:
                variable["value"] = HIDDEN
    return yaml.safe_dump_all(documents, sort_keys=False)


def _variables(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the items of all lists `env` in an object."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "env" and isinstance(item, list):
                yield from item
            else:
                yield from _variables(item)
    elif isinstance(value, list):
        for item in value:
            yield from _variables(item)
