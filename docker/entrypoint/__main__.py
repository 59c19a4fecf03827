"""`python3 /opt/mask-rcnn/entrypoint COMMAND`: what a container runs.

    train                          a host's part of a training job (SageMaker calls it so)
    folders --make P --need P ...  make and look for folders on a mounted file system
    rank                           one rank; started by mpirun, torchrun or smddprun

Standard library only, and nothing newer than Python 3.6, which is what the oldest of the images
has.
"""

import os
import sys

# Started as a folder, this is no package yet; the image's adapter lies beside the folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from entrypoint.main import main

if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: threads that still wait on a connection must not hold the container up.
    os._exit(code)
