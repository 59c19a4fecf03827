#!/bin/bash
# Install NVIDIA's TensorFlow 2 Mask R-CNN and what it needs, at pinned versions.
#
#   install.sh PYTHON SOURCES
#
# PYTHON is the interpreter (3.9) that has TensorFlow 2 and gets the packages, SOURCES what is in the
# repository. Needs git.
set -euo pipefail
python=$1 sources=$2
here=$(cd "$(dirname "$0")" && pwd)

# The last commit of the fork that calls the data parallel library.
mask_rcnn=86ee4e9fb28742b31a957a4061f4911737f3c542
# Version 1.0.0.
dllogger=89913fd227b720a3026550b904cdca0d49d82100
folder=TensorFlow2/Segmentation/MaskRCNN

# A proxy's certificate comes as a secret, so that it is in no layer.
if [ -s /run/secrets/ca-bundle ]; then
  export PIP_CERT=/run/secrets/ca-bundle GIT_SSL_CAINFO=/run/secrets/ca-bundle
fi
export PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1

install_packages() {
  # The rest is there: the base has mpi4py, NumPy, OpenCV, Pillow, PyYAML and matplotlib.
  "$python" -m pip install --no-cache-dir --require-hashes --no-deps --only-binary :all: \
    --requirement "$here/requirements.txt"
}

install_program() {
  bash "$here/../commit.sh" https://github.com/HerringForks/DeepLearningExamples "$mask_rcnn" \
    "$sources" "$folder"
  bash "$here/../commit.sh" https://github.com/NVIDIA/dllogger "$dllogger" "$sources/dllogger"
  echo "$sources/dllogger" \
    > "$("$python" -c 'import site; print(site.getsitepackages()[0])')/dllogger.pth"
}

check() {
  # What imports the data parallel library is left out: that works on Amazon's instances only.
  (cd "$sources/$folder" && "$python" -c '
import cv2, dllogger, matplotlib, mpi4py, PIL, pycocotools.mask, tensorflow, yaml
from mask_rcnn.hyperparameters.cmdline_utils import define_hparams_flags
print("TensorFlow", tensorflow.__version__, "flags", len(list(define_hparams_flags())))')
}

install_packages
install_program
check
