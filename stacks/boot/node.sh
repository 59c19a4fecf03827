#!/bin/bash
# User data of a node of the cluster: cloud-init runs it as root at the node's first boot. It writes
# what the node has to know, fetches the node's programs and hands over to their set-up, which does
# everything else and tells CloudFormation how it went. Until then, this script does the telling.
#
# What is printed here is on the console: aws ec2 get-console-output.
#
# shellcheck disable=SC2153  # Names that look like others are assigned in place of the line VALUES.
set -uo pipefail
umask 022

# VALUES

readonly HOME_OF_NODE=/opt/mask-rcnn
readonly CONFIG=/etc/mask-rcnn/node.json
readonly METADATA=http://169.254.169.254/latest

log() {
    printf 'mask-rcnn: %s\n' "$*" >&2
}

# Usage: within SECONDS COMMAND...   What does not end when asked is killed five seconds later.
within() {
    timeout --kill-after=5 "$@"
}

write_config() {
    mkdir -p "${CONFIG%/*}" && printf '%s\n' "$NODE_JSON" >"$CONFIG"
}

# Amazon Linux 2 has an older python3 beside the one of the Deep Learning AMI.
find_python() {
    local name
    for name in python3 python3.12 python3.11 python3.10 python3.9; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    log "ERROR: no Python of 3.9 or newer in this AMI"
    return 1
}

fetch_once() {
    within "$DOWNLOAD_TIMEOUT_S" aws s3api get-object --region "$REGION" \
        --bucket "$SOURCE_BUCKET" --key "$SOURCE_KEY" "$1" >/dev/null
}

# The network, and the role's credentials, may come a little after the boot.
fetch() {
    local try
    for try in 1 2 3 4 5; do
        fetch_once "$1" && return
        log "attempt $try to fetch s3://$SOURCE_BUCKET/$SOURCE_KEY failed"
        sleep 5
    done
    log "ERROR: s3://$SOURCE_BUCKET/$SOURCE_KEY cannot be fetched"
    return 1
}

unpack_programs() {
    local archive python
    python="$(find_python)" || return
    archive="$(mktemp)" || return
    fetch "$archive" || return
    if ! sha256sum --check --status <<<"$SOURCE_SHA256  $archive"; then
        log "ERROR: s3://$SOURCE_BUCKET/$SOURCE_KEY is not what the stack was deployed with"
        return 1
    fi
    mkdir -p "$HOME_OF_NODE" && "$python" -m zipfile -e "$archive" "$HOME_OF_NODE" || return
    rm -f "$archive"
}

instance_id() {
    local token
    token="$(curl --fail --silent --show-error --max-time 5 -X PUT "$METADATA/api/token" \
        -H 'X-aws-ec2-metadata-token-ttl-seconds: 60')" || return
    curl --fail --silent --show-error --max-time 5 \
        -H "X-aws-ec2-metadata-token: $token" "$METADATA/meta-data/instance-id"
}

# A stack that is not being deployed takes no signal; the node never registers as ready, and whoever
# waits for it says so.
signal_failure() {
    local id
    id="$(instance_id)" || return
    within 30 aws cloudformation signal-resource --region "$REGION" --stack-name "$STACK" \
        --logical-resource-id "$RESOURCE" --unique-id "$id" --status FAILURE
}

if ! { write_config && unpack_programs; }; then
    log "ERROR: the node's programs could not be brought here"
    signal_failure
    exit 1
fi
exec bash "$HOME_OF_NODE/node/setup.sh"
