#!/bin/bash
# Usage: boot.sh FOLDER COMMAND, in namespaces of its own. Lays an empty writable layer over this
# machine's file system and runs the command there, as on a fresh instance. FOLDER/instance holds
# what is laid on top; what the instance has after it goes to FOLDER/left.
set -euo pipefail
folder="$1" command="$2"

mount --make-rprivate /
mkdir -p "$folder/layer" "$folder/left"
mount -t tmpfs tmpfs "$folder/layer"
mkdir "$folder/layer"/{upper,work,root}
root="$folder/layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/layer/upper,workdir=$folder/layer/work" "$root"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=0755 tmpfs "$root/run"
mkdir -p "$root/share" "$root/efs" "$root/opt/mask-rcnn"
# What outlives the instance, EFS among it, and what the test gives and takes.
mount --bind "$folder/share" "$root/share"
cp -r "$folder/instance/." "$root"
for block in pci/devices; do
    [[ ! -d "$folder/share/sys/$block" ]] ||
        mount --bind "$folder/share/sys/$block" "$root/sys/bus/$block"
done
[[ ! -d "$folder/share/sys/block" ]] || mount --bind "$folder/share/sys/block" "$root/sys/block"
# A file, so that what is written there is seen.
touch "$folder/share/console" "$root/run/console"
[[ -e /dev/console ]] && mount --bind "$folder/share/console" "$root/dev/console"

ip link set lo up
ip address add 169.254.169.254/32 dev lo

code=0
chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LC_ALL=C.UTF-8 /bin/bash -c "$command" || code=$?

umount "$root/efs" "$root/fsx" 2>/dev/null || true
for part in etc opt/mask-rcnn/bin opt/mask-rcnn/src var/log/mask-rcnn var/lib/mask-rcnn; do
    [[ ! -d "$folder/layer/upper/$part" ]] || {
        mkdir -p "$folder/left/$part"
        cp -a "$folder/layer/upper/$part/." "$folder/left/$part"
    }
done
exit "$code"
