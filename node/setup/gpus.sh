#!/bin/bash
# Looks that the driver has all GPUs, and keeps it loaded between jobs.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

found="$(module gpus 2>&1)" || fail "${found#ERROR: }"
log "$found"
if [[ "$found" != "GPUs: 0" ]]; then
    nvidia-smi --persistence-mode=1
fi
