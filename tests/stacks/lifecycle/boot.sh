#!/bin/bash
# Usage: boot.sh ROOT VOLUME [COMMAND...], in namespaces of its own. Lays out the instance's file
# system, runs the start script as SageMaker does, and waits for what it leaves in the background.
# Then it runs the command as the notebook's user.
set -euo pipefail
root="$1" volume="$2"
shift 2

mount --make-rprivate /
mount --bind "$volume" "$root/home/ec2-user/SageMaker"
mount --rbind "$root/home" /home
mount --bind "$root/opt" /opt
mount --bind "$root/log" /var/log
cp /etc/passwd /etc/group "$root"
echo "ec2-user:x:1000:1000::/home/ec2-user:/bin/bash" >>"$root/passwd"
echo "ec2-user:x:1000:" >>"$root/group"
mount --bind "$root/passwd" /etc/passwd
mount --bind "$root/group" /etc/group
cp "$root/on-start" "$root/bin/on-start"
mount --bind "$root/bin" /usr/local/bin

cd /
set +e
bash /usr/local/bin/on-start
code=$?
while (($(pgrep --count .) > 1)); do
    sleep 0.05
done
if (($#)); then
    runuser --user=ec2-user -- env HOME=/home/ec2-user "$@" || code=$?
fi
exit "$code"
