"""`python3 /opt/mask-rcnn/entrypoint COMMAND`: what a container runs.

    train                          a host's part of a training job (SageMaker calls it so)
    elastic                        a training job whose hosts come and go: what its head runs
    host                           what each other host of such a job runs
    launcher                       a training job in pods (an MPIJob): what its launcher runs
    worker                         what each other pod of such a job runs
    folders --make P --need P ...  make and look for folders on a mounted file system
    data ARGUMENTS                 python -m training.data, on file systems that are mounted
    rank                           one rank; started by mpirun, torchrun, smddprun or horovodrun
    session                        what the launcher of such a job runs in a worker, over SSH

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
