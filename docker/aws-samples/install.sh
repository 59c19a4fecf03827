#!/bin/bash
# Install AWS's optimized Mask R-CNN and what it needs, at pinned versions.
#
#   install.sh PYTHON SOURCES
#
# PYTHON is the interpreter (3.6) that has TensorFlow 1.15 and gets the packages, SOURCES what is in
# the repository. Needs git and g++.
set -euo pipefail
python=$1 sources=$2
here=$(cd "$(dirname "$0")" && pwd)

# Those of the original tutorial.
mask_rcnn=99dda649eb39874423eeaf0a9e876570e9b2f7da
cocoapi=6ac4a93058202603f36fd1ce47228e7d81119e5a

# A proxy's certificate comes as a secret, so that it is in no layer.
if [ -s /run/secrets/ca-bundle ]; then
  export PIP_CERT=/run/secrets/ca-bundle GIT_SSL_CAINFO=/run/secrets/ca-bundle
fi
export PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

install_packages() {
  # What they need besides is TensorFlow's own: six, termcolor, setuptools.
  "$python" -m pip install --no-cache-dir --require-hashes --no-deps --only-binary :all: \
    --requirement "$here/requirements.txt"
}

install_cocoapi() {
  # NVIDIA's, whose evaluation in C++ the program calls; PyPI's pycocotools lacks it.
  bash "$here/../commit.sh" https://github.com/NVIDIA/cocoapi "$cocoapi" "$work/cocoapi" \
    PythonAPI common
  (cd "$work/cocoapi/PythonAPI" &&
    "$python" -m pip install --no-cache-dir --no-deps --no-build-isolation .)
}

install_program() {
  bash "$here/../commit.sh" https://github.com/aws-samples/mask-rcnn-tensorflow "$mask_rcnn" \
    "$sources" MaskRCNN tensorpack
  "$python" "$here/patches.py" "$sources"
  # Its own TensorPack, in place of a setup.py, which asks git for a version.
  echo "$sources" > "$("$python" -c 'import site; print(site.getsitepackages()[0])')/tensorpack.pth"
}

check() {
  (cd "$sources/MaskRCNN" && "$python" -c '
import ext, tensorflow, tensorpack
from config import config
print("TensorFlow", tensorflow.__version__, "TensorPack", tensorpack.__version__, config.TRAINER)')
}

install_packages
install_cocoapi
install_program
check
