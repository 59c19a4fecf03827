#!/bin/bash
# Starts what makes this node reachable and known, and waits until it is.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

readonly PORT=2222
here="$(realpath "${BASH_SOURCE[0]%/*}/..")"
readonly STATE=/var/lib/mask-rcnn/services

# What the running services were started with: when it changes, they are started again.
services=(mask-rcnn-sshd mask-rcnn-register mask-rcnn-spot)
inputs="$(cat "$here"/units/*.service "$here"/*.py "$here"/{registration,spot}/*.py \
    "$here/sshd_config" /etc/mask-rcnn/node.json /etc/mask-rcnn/ssh/host_key.pub | sha256sum)"
if [[ "$(cat "$STATE" 2>/dev/null)" != "$inputs" ]]; then
    systemctl restart "${services[@]}"
    put "$STATE" <<<"$inputs" || true
else
    systemctl start "${services[@]}"
fi

problem="$(module reach 127.0.0.1 "$PORT" 20)" ||
    fail "the cluster's SSH server does not run: $problem; journalctl -u mask-rcnn-sshd says more"
exec /opt/mask-rcnn/bin/python -m node.registration wait 60
