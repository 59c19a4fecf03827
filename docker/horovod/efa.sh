#!/bin/bash
# Build libfabric with its EFA provider, and NCCL's plug-in for it, from pinned sources.
#
#   efa.sh CUDA TARGET
#
# Versions and checksums: https://github.com/spack/spack-packages at commit 052609051b9d, in
# repos/spack_repo/builtin/packages/{libfabric,aws_ofi_nccl}/package.py.
set -euo pipefail
cuda=$1 target=$2
ca=
[ ! -s /run/secrets/ca-bundle ] || ca=/run/secrets/ca-bundle

fetch() {  # URL SHA256: unpack into the folder `source`
  curl --fail --silent --show-error --location --retry 5 \
    ${ca:+--cacert "$ca"} --output archive "$1"
  echo "$2  archive" | sha256sum --check --strict
  rm -rf source
  mkdir source
  tar -xf archive -C source --strip-components=1
}

work=$(mktemp -d)
cd "$work"

fetch https://github.com/ofiwg/libfabric/releases/download/v2.5.0/libfabric-2.5.0.tar.bz2 \
  276019edca708dc0569cf3064a412e395ba7b1883299781caed120594f850995
(cd source && ./configure --prefix="$target" --enable-efa --enable-only --enable-shm \
  --with-cuda="$cuda" --enable-cuda-dlopen && make -j"$(nproc)" install)

fetch https://github.com/aws/aws-ofi-nccl/archive/v1.18.0.tar.gz \
  12fd67f05872600c485d74b8e3c3a640d063322371170f3a9c17d67a5a2ca681
(cd source && ./autogen.sh && ./configure --prefix="$target" --with-libfabric="$target" \
  --with-cuda="$cuda" --enable-platform-aws && make -j"$(nproc)" install)

rm -rf "$work"
