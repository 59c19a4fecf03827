"""`python -m training.kubernetes images`: what must be mirrored for a cluster without internet."""

from __future__ import annotations

from training.cli import Format, FormatOption, log, print_json, result
from training.job_options import OutputsFileOption
from training.kubernetes import operator
from training.kubernetes.images import chosen, pinned
from training.kubernetes.options import ImageOption, RegistryOption, read_cluster


def list_images(
    outputs_file: OutputsFileOption = None,
    registry: RegistryOption = None,
    image: ImageOption = None,
    output: FormatOption = Format.TEXT,
) -> None:
    """List the images of the cluster's parts, by name and address.

    Copy each to a registry that the nodes reach, and name it: install --registry HOST[/PATH], or
    --image NAME=ADDRESS. The images of jobs are in RegistryStack's repositories.
    """
    _, cluster = read_cluster(outputs_file)
    there = pinned(cluster.kubernetes_version, efa=cluster.efa == "true")
    images = chosen(there, registry=registry, own=image or ())
    if output is Format.JSON:
        rows = [
            {
                "name": each.name,
                "address": each.address,
                "has_digest": each.is_pinned,
                "is_needed": each.is_needed,
            }
            for each in images
        ]
        manifest = {"address": operator.ADDRESS, "sha256": operator.SHA256}
        print_json({"images": rows, "mpi_operator_manifest": manifest})
        return
    for each in images:
        note = "" if each.is_needed else "  (not needed by this cluster)"
        result.print(f"{each.name:<22}{each.address}{note}")
    log.print(
        f"manifest of MPI Operator {operator.VERSION}: {operator.ADDRESS}\nsha256 {operator.SHA256}"
    )
