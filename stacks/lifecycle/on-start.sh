#!/bin/bash
# Runs as root at every start of the notebook instance; only /home/ec2-user/SageMaker outlived the
# stop before it. It mounts the file systems, fetches this project's source and leaves the slow rest
# to setup.sh. SageMaker ends a script after five minutes, and with it the start, so everything here
# has a time limit; and the notebook starts even where a part fails, since without it nobody could
# look what is wrong.
#
# The notebook's user need not be root, so root neither runs nor writes what that user could have
# put in its way: nothing below /home/ec2-user/SageMaker.
#
# shellcheck disable=SC2153  # Names that look like others are assigned in place of the line VALUES.
set -uo pipefail
umask 022

# VALUES

readonly USER_HOME=/home/ec2-user
readonly SOURCE="/opt/distributed-mask-rcnn/$SOURCE_SHA256"
readonly SETUP_LOG=/var/log/distributed-mask-rcnn-setup.log

log() {
    printf '%s %s\n' "$(date --utc +%FT%TZ)" "$*"
}

# Usage: within SECONDS COMMAND...   What does not end when asked is killed five seconds later.
within() {
    timeout --kill-after=5 "$@"
}

# Leaves the source of this version in a folder of its own.
fetch_source() {
    local archive
    [[ ! -d "$SOURCE" ]] || return 0
    archive="$(mktemp)" || return
    within "$DOWNLOAD_TIMEOUT_S" aws s3api get-object --region "$REGION" \
        --bucket "$SOURCE_BUCKET" --key "$SOURCE_KEY" "$archive" >/dev/null || return
    sha256sum --check --quiet <<<"$SOURCE_SHA256  $archive" || return
    rm -rf "$SOURCE.partial"
    python3 -m zipfile -e "$archive" "$SOURCE.partial" && mv "$SOURCE.partial" "$SOURCE" || return
    rm -f "$archive"
    log "source: $SOURCE"
}

# Amazon's packages are signed, and come from S3.
install_clients() {
    local packages=()
    command -v mount.nfs4 >/dev/null || packages+=(nfs-utils)
    [[ -z "$EFS_WITH_ROLE" ]] || command -v mount.efs >/dev/null || packages+=(amazon-efs-utils)
    [[ -z "$FSX_DNS_NAME" ]] || command -v mount.lustre >/dev/null || packages+=(lustre-client)
    ((${#packages[@]})) || return 0
    within "$DOWNLOAD_TIMEOUT_S" dnf install --assumeyes --quiet "${packages[@]}" ||
        log "ERROR: could not be installed: ${packages[*]}"
}

# https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html
mount_efs() {
    if [[ -n "$EFS_WITH_ROLE" ]]; then
        mount_efs_with_role
        return
    fi
    mount_at "$USER_HOME/efs" -t nfs4 \
        -o nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport \
        "$EFS_DNS_NAME:/"
}

# Where roots of other clients are nobody, this one lets them write: training containers are such.
# https://docs.aws.amazon.com/efs/latest/ug/mounting-IAM-option.html
mount_efs_with_role() {
    mount_at "$USER_HOME/efs" -t efs -o tls,iam "$EFS_WITH_ROLE:/" || return
    [[ "$(stat --format=%u:%a "$USER_HOME/efs")" != "$(id --user ec2-user):755" ]] ||
        chmod 1777 "$USER_HOME/efs"
}

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
mount_fsx() {
    [[ -n "$FSX_DNS_NAME" ]] || return 0
    mount_at "$USER_HOME/fsx" -t lustre -o relatime,flock \
        "$FSX_DNS_NAME@tcp:/$FSX_MOUNT_NAME" || return
    give_to_user "$USER_HOME/fsx${FSX_DATA_PATH%/}"
}

# Usage: mount_at FOLDER MOUNT-ARGUMENT...
mount_at() {
    local folder="$1"
    shift
    if mountpoint --quiet "$folder"; then
        log "$folder: mounted already"
        return
    fi
    # Read only, so that nobody works in the folder while nothing is mounted there: what they wrote
    # would be gone after the next stop.
    install --directory --owner=root --mode=0555 "$folder" || return
    if ! within "$MOUNT_TIMEOUT_S" mount "$@" "$folder"; then
        say_not_mounted "$folder"
        return 1
    fi
    log "$folder: mounted"
    give_to_user "$folder"
}

say_not_mounted() {
    local text="$1 could not be mounted when the notebook started. The log says why: CloudWatch,
log group /aws/sagemaker/NotebookInstances, stream $NOTEBOOK_NAME/LifecycleConfigOnStart.
Stop the notebook and start it to try again."
    log "ERROR: $text"
    printf '%s\n' "$text" >"$1/NOT-MOUNTED.txt"
}

# The top of a new file system is root's, and so is the folder that FSx makes for the bucket. What
# someone has changed since is left as it is, and no link is followed.
give_to_user() {
    local folder="$1"
    [[ "$(realpath "$folder")" == "$folder" ]] || return 0
    [[ "$(stat --format=%u:%a "$folder")" == 0:755 ]] || return 0
    chown --no-dereference ec2-user:ec2-user "$folder" ||
        log "WARNING: the notebook's user cannot write in $folder"
}

# In the background, in a session of its own, so that it outlives this script.
begin_setup() {
    export NOTEBOOK_NAME REGION WHEELS IDLE_MINUTES
    setsid nohup bash "$SOURCE/stacks/lifecycle/setup.sh" "$SOURCE" \
        >>"$SETUP_LOG" 2>&1 </dev/null &
    log "the rest is set up in the background; its log: $SETUP_LOG"
}

main() {
    local efs fsx source
    fetch_source &
    source=$!
    install_clients
    mount_efs &
    efs=$!
    mount_fsx &
    fsx=$!
    wait "$efs" || log "ERROR: EFS is not mounted"
    wait "$fsx" || log "ERROR: FSx for Lustre is not mounted"
    if wait "$source"; then
        begin_setup
    else
        log "ERROR: s3://$SOURCE_BUCKET/$SOURCE_KEY could not be fetched, or is not what was" \
            "deployed: until the next start there is no kernel, and no stop when idle"
    fi
    log "started"
}

main
