#!/usr/bin/env bash
# The trainer on one GPU: right, how fast, how much memory, against torchvision's reference loop.
# Takes under 4 minutes; needs nothing but torch, torchvision and numpy. bench/gpu.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec "${PYTHON:-python3}" -m bench.gpu "$@"
