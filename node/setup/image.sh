#!/bin/bash
# For jobs in containers: looks that the runtime is up, and that it can hand out GPUs.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

engine="$(command -v docker || command -v podman)" ||
    fail "no container runtime: this AMI has neither docker nor podman"
if ! timeout 60 "$engine" info >/dev/null 2>&1; then
    timeout 60 systemctl start docker || true
    said="$(timeout 60 "$engine" info 2>&1)" ||
        fail "no container runtime: $engine is there and does not work: $(tail -n 1 <<<"$said")"
fi
if [[ "$(module gpus)" != "GPUs: 0" ]]; then
    command -v nvidia-ctk >/dev/null || command -v nvidia-container-cli >/dev/null ||
        fail "no container runtime for GPUs: this AMI has no NVIDIA container toolkit"
fi
log "containers run with $engine"
