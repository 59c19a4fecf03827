"""What a change of settings does to a cluster that is there."""

from __future__ import annotations

from training.preflight.stacks.consequence import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        "replaces-cluster",
        ("cluster_name",),
        lambda s: s.cluster.name,
        "Another cluster takes the place of the one there was: its nodes are ended with the jobs "
        "on them, and the list of its jobs stays behind on EFS, under the old name. Stop the jobs "
        "first (python -m training.jobs stop)",
    ),
    Rule(
        "replaces-nodes",
        (
            *("cluster_head_instance_type", "cluster_worker_instance_type", "cluster_ami"),
            *("cluster_root_device", "cluster_volume_gib", "cluster_key_name", "cluster_runs_in"),
            *("cluster_efa", "cluster_placement_group", "cluster_spot", "cluster_zone"),
            *("cluster_capacity_reservation_id", "cluster_capacity_block"),
            *("cluster_setup_minutes", "cluster_ssh_location", "cluster_environment"),
        ),
        lambda s: (
            *(s.cluster.head_instance_type, s.cluster.worker_instance_type, s.cluster.ami or ""),
            *(s.cluster.root_device or "", s.cluster.volume_gib, s.cluster.key_name or ""),
            *(s.cluster.runs_in, s.cluster.efa, s.cluster.has_placement_group, s.cluster.spot),
            *(s.cluster_zone, s.cluster.capacity_reservation_id or "", s.cluster.capacity_block),
            *(s.cluster.setup_minutes, s.cluster.has_ssh, s.cluster.environment or ""),
        ),
        "Nodes that run are replaced, one batch after the other, and a job on them goes on from "
        "its last checkpoint. Data on EFS and FSx is not touched. Deploy between jobs",
    ),
)
