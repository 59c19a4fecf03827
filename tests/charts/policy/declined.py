"""What checkov finds in the rendered charts and we keep as it is, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

DECLINED: Mapping[str, str] = {
    "CKV_K8S_8": "No liveness probe: a job is no service. The launcher follows its workers and "
    "each of their processes, and ends the job where one is lost.",
    "CKV_K8S_9": "No readiness probe: without it a pod's name resolves as soon as it runs, which "
    "the launcher waits for; then it asks each worker itself, with its key.",
    "CKV_K8S_15": "Images are not fetched anew for each pod: their tags are hashes of their "
    "sources, and RegistryStack's repositories never change a tag.",
    "CKV_K8S_40": "User 1000 and not one above 10000: the images have it by name, which SSH needs, "
    "and what it writes stays on file systems that EC2 hosts and notebooks mount too.",
    "CKV_K8S_43": "A tag is enough in a value that users set: the same repositories. A digest is "
    "taken as well.",
}
"""Rule to reason."""
