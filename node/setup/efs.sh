#!/bin/bash
# Mounts EFS, where the register, the jobs' folders and their checkpoints are.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

# shellcheck disable=SC2153  # NODE_EFS_ID is no misspelling of NODE_EFS_IAM
readonly ID="$NODE_EFS_ID" FOLDER="$NODE_EFS_MOUNT"
# https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html
readonly NFS=nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport
readonly REGISTER="$FOLDER/mask-rcnn/clusters/$NODE_CLUSTER/nodes"

not_mountable() {
    fail "EFS not mountable: $ID at $FOLDER: $*"
}

# Sets `command`.
choose_mount() {
    if [[ -n "$NODE_EFS_IAM" ]]; then
        command -v mount.efs >/dev/null || install_packages amazon-efs-utils amazon-efs-utils ||
            not_mountable "it lets only roles be root, for which the AMI needs amazon-efs-utils"
        command=(mount -t efs -o "tls,iam" "$ID:/" "$FOLDER")
    else
        command -v mount.nfs4 >/dev/null || install_packages nfs-utils nfs-common ||
            not_mountable "the AMI has no NFS client (nfs-utils; nfs-common on Ubuntu)"
        command=(mount -t nfs4 -o "$NFS" "$NODE_EFS_DNS:/" "$FOLDER")
    fi
}

if mountpoint --quiet "$FOLDER"; then
    log "$FOLDER: mounted already"
else
    choose_mount
    mkdir -p "$FOLDER"
    # A mount target's name takes a minute or two to be known after it was made.
    problem="$(module reach "$NODE_EFS_DNS" 2049 "$((STEP_SECONDS * 2 / 3))")" ||
        not_mountable "$problem. There must be a mount target in this zone, whose security group" \
            "takes port 2049 from the nodes"
    said="$("${command[@]}" 2>&1)" || not_mountable "$said"
    log "$FOLDER: mounted"
fi
mkdir -p "$REGISTER" ||
    not_mountable "it is mounted, but root may not write there: does its policy ask for a role?"
