"""What a change of settings does to a Kubernetes cluster that is there."""

from __future__ import annotations

from training.preflight.stacks.consequence import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        "replaces-kubernetes",
        ("eks_name",),
        lambda s: s.kubernetes.name,
        "Another cluster takes the place of the one there was, with nothing in it: stop the jobs, "
        "deploy, and install what belongs into it again (python -m training.kubernetes install). "
        "Data on EFS, FSx and S3 is not touched",
    ),
    Rule(
        "ends-gpu-nodes",
        ("eks_max_nodes",),
        lambda s: s.kubernetes.max_nodes,
        "The group of the GPU nodes is set to its new sizes and begins with none again: nodes that "
        "run are ended, and a job on them goes on from its last checkpoint. Deploy between jobs",
    ),
    Rule(
        "replaces-kubernetes-nodes",
        (
            *("eks_version", "eks_node_release", "eks_gpu_instance_type", "eks_spot", "eks_efa"),
            *("eks_system_instance_type", "eks_zone", "eks_placement_group", "eks_volume_gib"),
            *("eks_capacity_reservation_id", "eks_capacity_block"),
        ),
        lambda s: (
            *(s.kubernetes.version, s.kubernetes.node_release or "", s.kubernetes.spot),
            *(s.kubernetes.gpu_instance_type, s.kubernetes.system_instance_type, s.kubernetes.efa),
            *(s.kubernetes_zone, s.kubernetes.has_placement_group, s.kubernetes.volume_gib),
            *(s.kubernetes.capacity_reservation_id or "", s.kubernetes.capacity_block),
        ),
        "Nodes that run are replaced, a quarter at a time, once their pods have left: a job on "
        "them goes on from its last checkpoint. Deploy between jobs",
    ),
)
