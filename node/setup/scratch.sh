#!/bin/bash
# /scratch: the instance's own NVMe disks as one, where it has any; else a folder of the root volume.
# After a stop of the instance what was on them is gone: only copies go there.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

readonly FOLDER=/scratch
readonly LABEL=mrcnnscratch
# Where the Deep Learning AMIs mount these disks themselves.
readonly DLAMI=/opt/dlami/nvme

# Sets `disks`: the instance store's devices; EBS volumes are NVMe devices of another model.
find_disks() {
    local block
    disks=()
    for block in /sys/block/nvme*; do
        [[ "$(cat "$block/device/model" 2>/dev/null)" == "Amazon EC2 NVMe Instance Storage"* ]] ||
            continue
        disks+=("/dev/${block##*/}")
    done
}

# The AMI's service may not have come to it yet.
is_mounted_by_ami() {
    if systemctl cat dlami-nvme.service >/dev/null 2>&1; then
        timeout 60 systemctl start dlami-nvme.service || true
    fi
    mountpoint --quiet "$DLAMI"
}

# Sets `device`: all disks as one, striped.
join_disks() {
    device="${disks[0]}"
    ((${#disks[@]} > 1)) || return 0
    if command -v mdadm >/dev/null; then
        device=/dev/md/scratch
        # Answers the question whether to go on over what a former use left there.
        mdadm --create "$device" --level=0 --raid-devices="${#disks[@]}" --name=scratch --force \
            --run "${disks[@]}"
    elif command -v lvcreate >/dev/null; then
        device=/dev/mask-rcnn/scratch
        pvcreate --force --yes "${disks[@]}"
        vgcreate mask-rcnn "${disks[@]}"
        lvcreate --yes --stripes "${#disks[@]}" --extents 100%FREE --name scratch mask-rcnn
    else
        log "WARNING: neither mdadm nor LVM here: only the first of ${#disks[@]} disks is used"
    fi
}

mkdir -p "$FOLDER"
if mountpoint --quiet "$FOLDER"; then
    log "$FOLDER: mounted already"
    exit
fi
find_disks
if ((${#disks[@]} == 0)); then
    log "$FOLDER: on the root volume, since this machine has no disks of its own"
elif is_mounted_by_ami; then
    mkdir -p "$DLAMI/scratch"
    mount --bind "$DLAMI/scratch" "$FOLDER"
    log "$FOLDER: on $DLAMI"
elif made="$(blkid -L "$LABEL")"; then
    mount -o noatime "$made" "$FOLDER"
    log "$FOLDER: on $made, made at an earlier start"
else
    join_disks
    mkfs.xfs -f -q -L "$LABEL" "$device" || fail "$FOLDER: no file system could be made on $device"
    mount -o noatime "$device" "$FOLDER"
    log "$FOLDER: ${#disks[@]} disks as $device"
fi
