#!/bin/bash
# For jobs without containers: the trainer's virtual environment, as the image has it, and the rest
# laid out as in the image.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

readonly ASSET=/opt/mask-rcnn
readonly VENV=$ASSET/venv
readonly REQUIREMENTS=$ASSET/requirements-train.txt
readonly CONSTRAINTS=$ASSET/docker/horovod/constraints.txt
readonly CUDA=$ASSET/cuda
# Built once for each set of versions; all nodes take it from there.
readonly WHEELS="$NODE_EFS_MOUNT/mask-rcnn/clusters/$NODE_CLUSTER/wheels"
# The EFA installer's Open MPI is in no path of the system.
export PATH="$PATH:/opt/amazon/openmpi/bin:/usr/lib64/openmpi/bin"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# Sets `python`: what the pinned packages need.
find_python() {
    local name
    for name in python3.11 python3.12; do
        python="$(command -v "$name")" && [[ -e "$("$python" -c \
            'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]] &&
            "$python" -c 'import ensurepip' 2>/dev/null && return
    done
    install_packages "python3.11 python3.11-devel" \
        "python3.11 python3.11-dev python3.11-venv" || true
    python="$(command -v python3.11)" ||
        fail "runs_in=environment needs Python 3.11 or 3.12 with its headers, and this AMI has" \
            "neither, nor could it be installed: take an AMI with it, or runs_in=image"
}

install_compiler() {
    command -v g++ >/dev/null && command -v make >/dev/null ||
        install_packages "gcc-c++ make" "g++ make" ||
        fail "runs_in=environment needs g++ and make for Horovod, and this AMI has them not"
    command -v mpicxx >/dev/null || install_packages openmpi-devel "libopenmpi-dev openmpi-bin" ||
        fail "runs_in=environment needs Open MPI with its headers, and this AMI has none"
}

# What makes one environment differ from another.
digest() {
    cat "$REQUIREMENTS" "$CONSTRAINTS" "$ASSET"/toolchain/horovod_*.py "$ASSET/docker/horovod/cuda.sh" |
        sha256sum
}

build() {
    local wanted cuda=() wheel
    wanted="$(digest) $(module gpus)"
    if [[ "$(cat "$VENV/complete" 2>/dev/null)" == "$wanted" ]]; then
        log "$VENV: as it was"
        return
    fi
    find_python
    install_compiler
    log "$VENV: made with $python"
    rm -rf "$VENV"
    "$python" -m venv "$VENV"
    "$VENV/bin/pip" install --quiet --constraint "$CONSTRAINTS" --requirement "$REQUIREMENTS" ||
        fail "the trainer's packages could not be installed: $(tail -n 1 "/var/log/mask-rcnn/environment.log")"
    if [[ "$(module gpus)" != "GPUs: 0" ]]; then
        rm -rf "$CUDA" "$CUDA.packages"
        bash "$ASSET/docker/horovod/cuda.sh" "$VENV" "$CONSTRAINTS" "$CUDA"
        cuda=(--cuda "$CUDA")
    fi
    # Two nodes at once build once: the second waits for the first, by a lock on EFS.
    mkdir -p "$WHEELS"
    wheel="$(cd "$ASSET" && "$VENV/bin/python" -m toolchain.horovod_wheel --cache "$WHEELS" "${cuda[@]}")" ||
        fail "Horovod could not be built; $WHEELS/log says more"
    "$VENV/bin/pip" install --quiet --no-deps "$wheel"
    echo "$ASSET/src" >"$(echo "$VENV"/lib/python3.*/site-packages)/mask-rcnn.pth"
    put "$VENV/complete" <<<"$wanted" || true
}

# Usage: link TARGET NAME
link() {
    [[ "$(readlink "$2")" == "$1" ]] || ln -sfn "$1" "$2"
}

mkdir -p "$ASSET/src"
link "$ASSET/docker/entrypoint" "$ASSET/entrypoint"
link "$ASSET/docker/horovod/adapter.py" "$ASSET/adapter.py"
link "$ASSET/training" "$ASSET/src/training"
put "$ASSET/algorithm" <<<horovod || true
if [[ -n "$NODE_ENVIRONMENT" ]]; then
    [[ -x "$NODE_ENVIRONMENT/bin/python" ]] ||
        fail "environment: $NODE_ENVIRONMENT has no bin/python"
    link "$NODE_ENVIRONMENT" "$VENV"
    log "$VENV: is $NODE_ENVIRONMENT"
else
    build
fi
