#!/bin/bash
# Put together the CUDA toolkit that compiles Horovod's kernels, of TensorFlow's version of CUDA.
#
#   cuda.sh TARGET
#
# NVIDIA's Python packages of CUDA 12 have no nvcc. Checksums: NVIDIA's redistrib_12.2.2.json, read
# in NixOS/nixpkgs at bc64bc8df51f, pkgs/development/cuda-modules/cuda/manifests.
set -euo pipefail
target=$1
ca=
[ ! -s /run/secrets/ca-bundle ] || ca=/run/secrets/ca-bundle
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # NAME SHA256: unpack the part into TARGET
  local url=https://developer.download.nvidia.com/compute/cuda/redist
  curl --fail --silent --show-error --location --retry 5 ${ca:+--cacert "$ca"} \
    --output "$work/archive" "$url/$1/linux-x86_64/$1-linux-x86_64-12.2.140-archive.tar.xz"
  echo "$2  $work/archive" | sha256sum --check --strict
  tar -xf "$work/archive" -C "$target" --strip-components=1
}

mkdir -p "$target"
fetch cuda_nvcc 3feaab191e1ae3fded02c02b0f24453069ada96b2e3a750251293b36079dc2f1
fetch cuda_cudart baebd331249bca0edf36776ead90e6b2024ffee01ea26cd9dd07344bebeaff08
fetch cuda_cccl 90fa538e41f7f444896b61d573d502ea501f44126f8ff64442987e192a8a39dd
# Where CMake looks for libraries.
ln -sfn lib "$target/lib64"
