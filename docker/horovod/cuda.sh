#!/bin/bash
# Assemble a CUDA toolkit with NCCL from Python packages, of the versions that PyTorch runs with.
#
#   cuda.sh VENV CONSTRAINTS TARGET
set -euo pipefail
venv=$1 constraints=$2 target=$3

pinned() { sed -n "s/^$1==//p" "$constraints"; }

"$venv/bin/pip" install --target "$target.packages" \
  "cuda-toolkit[cccl,crt,cudart,nvcc,nvml,nvvm]==$(pinned cuda-toolkit)" \
  "nvidia-nccl-cu13==$(pinned nvidia-nccl-cu13)"
mv "$target.packages/nvidia/cu13" "$target"
# NCCL's package has a folder of its own.
cp -r "$target.packages/nvidia/nccl/." "$target"
rm -rf "$target.packages"

# Packages hold libNAME.so.VERSION only; a linker looks for libNAME.so.
for library in "$target"/lib/lib*.so.*; do
  ln -sf "$(basename "$library")" "${library%%.so.*}.so"
done
ln -sfn lib "$target/lib64"
