#!/bin/bash
# Install TensorFlow, Horovod and TensorPack at their pinned versions.
#
#   install.sh cpu|gpu VENV SOURCES [CUDA]
#
# VENV gets the packages, SOURCES what is in TensorPack's repository; CUDA is the root of a CUDA
# toolkit, for `gpu`. Needs python3 (3.11) with venv, g++, make, git and Open MPI with its headers.
set -euo pipefail
variant=$1 venv=$2 sources=$3 cuda=${4:-}
here=$(cd "$(dirname "$0")" && pwd)

# The commit of the original tutorial.
tensorpack=db541e8ec9edeeb12f8dcc79f3ca835412d282e1

# A proxy's certificate comes as a secret, so that it is in no layer.
if [ -s /run/secrets/ca-bundle ]; then
  export PIP_CERT=/run/secrets/ca-bundle GIT_SSL_CAINFO=/run/secrets/ca-bundle
fi
export PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

install_packages() {
  python3 -m venv "$venv"
  "$venv/bin/pip" install --require-hashes --only-binary :all: \
    --requirement "$here/requirements-$variant.txt"
}

build_horovod() {
  # Horovod's CMakeLists.txt needs cmake before 4, which stays outside of the environment, and its
  # setup.py setuptools before 80.
  "$venv/bin/pip" install --require-hashes --target "$work/tools" \
    --requirement "$here/requirements-build.txt"
  options=(HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1
    HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1)
  if [ "$variant" = gpu ]; then
    # NCCL of TensorFlow's own choice. A linker looks for libnccl.so, which its package lacks.
    nccl=$(echo "$venv"/lib/python3.*/site-packages/nvidia/nccl)
    mkdir "$work/nccl"
    ln -s "$nccl/lib/libnccl.so.2" "$work/nccl/libnccl.so"
    options+=(HOROVOD_GPU_OPERATIONS=NCCL "HOROVOD_CUDA_HOME=$cuda" HOROVOD_NCCL_LINK=SHARED
      "HOROVOD_NCCL_INCLUDE=$nccl/include" "HOROVOD_NCCL_LIB=$work/nccl"
      # V100, T4, A100, A10G, L4, H100.
      "HOROVOD_BUILD_CUDA_CC_LIST=70,75,80,86,89,90")
    # For the check at the end.
    export LD_LIBRARY_PATH=$nccl/lib
  fi
  env "${options[@]}" \
    "HOROVOD_CMAKE=$work/tools/cmake/data/bin/cmake" "MAKEFLAGS=${MAKEFLAGS:--j$(nproc)}" \
    "$venv/bin/pip" install --require-hashes --no-deps --no-binary horovod --no-build-isolation \
    --no-cache-dir --requirement "$here/requirements-horovod.txt"
}

install_tensorpack() {
  bash "$here/../commit.sh" https://github.com/tensorpack/tensorpack "$tensorpack" "$sources" \
    tensorpack examples/FasterRCNN
  # In place of its setup.py, which asks git for a version.
  echo "$sources" > "$(echo "$venv"/lib/python3.*/site-packages)/tensorpack.pth"
}

use_version_1() {
  # Ten files of the model call TensorFlow 1 by its plain name; the eleventh imports it as all do
  # after this. TensorFlow 2 has no `tf.ceil`, for example.
  replace 'import tensorflow as tf' 'from tensorpack import tfv1 as tf' 10 \
    "$sources/examples/FasterRCNN"
  # The same where Horovod's trainer counts the variables; later commits have this change too.
  replace '        self._num_global_variables = len(tf.global_variables())' \
    '        self._num_global_variables = len(tf.compat.v1.global_variables())' 1 \
    "$sources/tensorpack/train"
}

leave_out_gpu_trackers() {
  # They end the program where there is no GPU; all else runs on CPUs, for a trial.
  replace '        GPUMemoryTracker(),' '' 1 "$sources/examples/FasterRCNN"
  replace '        GPUUtilizationTracker()' '' 1 "$sources/examples/FasterRCNN"
}

replace() { # OLD NEW COUNT FOLDER: replace a line in so many Python files
  local files
  files=$(grep --recursive --files-with-matches --line-regexp --fixed-strings --include='*.py' \
    -- "$1" "$4" || true)
  if [ "$(grep -c . <<< "$files")" != "$3" ]; then
    printf 'install.sh: expected %s files with the line "%s", found:\n%s\n' "$3" "$1" "$files" >&2
    exit 1
  fi
  while read -r file; do
    python3 -c '
import sys
old, new, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    lines = file.read().split("\n")
with open(path, "w", encoding="utf-8") as file:
    file.write("\n".join(new if line == old else line for line in lines))' "$1" "$2" "$file"
  done <<< "$files"
}

check() {
  (cd "$sources/examples/FasterRCNN" && "$venv/bin/python" -c '
import horovod.tensorflow, tensorflow, tensorpack
from config import config
from modeling import generalized_rcnn
assert horovod.tensorflow.mpi_built(), "Horovod was built without MPI"
print("TensorFlow", tensorflow.__version__, "TensorPack", tensorpack.__version__, config.TRAINER)')
}

install_packages
build_horovod
install_tensorpack
use_version_1
[ "$variant" = gpu ] || leave_out_gpu_trackers
check
