#!/bin/sh
# The first process of a host, until systemd takes its place: makes the host's root and goes there.
#
#     boot.sh FOLDER FILE_SYSTEMS [SHOWN ...]
#
# FOLDER has upper (the host's own files), work and root, all empty at the first boot but upper.
# FILE_SYSTEMS has a folder for each EFS and FSx file system, for the host's mount helpers.
# SHOWN are folders of the machine that its root's file system lacks; the host may read them.
set -eu

folder=$1
file_systems=$2
shift 2
root=$folder/root

mount --make-rprivate /
mount -t overlay host -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
cd "$root"

mount -t proc proc proc
# Most of what lies here is of the whole machine.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup

mount -t tmpfs -o mode=755 dev dev
for device in null zero full random urandom tty fuse; do
  if [ -e "/dev/$device" ]; then
    : >"dev/$device"
    mount --bind "/dev/$device" "dev/$device"
  fi
done
mkdir dev/pts dev/shm dev/mqueue
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mount -t tmpfs -o mode=1777 shm dev/shm

mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mkdir -p run/localaws/file-systems var/lib/containers
# Images and containers: overlayfs takes no layer that is itself in an overlay.
mount -t tmpfs containers var/lib/containers
mount --bind "$file_systems" run/localaws/file-systems
for shown in "$@"; do
  mkdir -p ".$shown"
  mount --bind "$shown" ".$shown"
  mount -o remount,bind,ro ".$shown"
done

hostname "$(cat etc/hostname)"
pivot_root . mnt
umount -l /mnt
cd /
# systemd leaves the machine's devices and kernel settings alone in what it knows as a container.
export container=localaws
exec /lib/systemd/systemd --unit=multi-user.target --log-target=console --show-status=0
