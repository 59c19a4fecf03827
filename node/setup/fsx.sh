#!/bin/bash
# Mounts FSx for Lustre, where the training data is.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

readonly FOLDER="$NODE_FSX_MOUNT"

not_mountable() {
    fail "FSx not mountable: $NODE_FSX_DNS at $FOLDER: $*"
}

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html
install_client() {
    if command -v amazon-linux-extras >/dev/null; then
        amazon-linux-extras install -y lustre
    elif command -v dnf >/dev/null; then
        install_packages lustre-client ""
    else
        install_client_on_ubuntu
    fi
}

# Only AWS's own list is read: it is on HTTPS, and apt checks the packages with AWS's key.
install_client_on_ubuntu() {
    local keyring=/usr/share/keyrings/fsx-ubuntu-public-key.gpg list release
    list=/etc/apt/sources.list.d/fsxlustreclientrepo.list
    release="$(lsb_release --codename --short)"
    if [[ ! -s "$keyring" ]]; then
        curl --fail --silent --show-error --proto '=https' --max-time 60 \
            https://fsx-lustre-client-repo-public-keys.s3.amazonaws.com/fsx-ubuntu-public-key.asc |
            gpg --dearmor >"$keyring.new"
        mv "$keyring.new" "$keyring"
    fi
    put "$list" <<<"deb [signed-by=$keyring] https://fsx-lustre-client-repo.s3.amazonaws.com/ubuntu $release main" || true
    export DEBIAN_FRONTEND=noninteractive
    apt-get update --quiet=2 -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=-
    apt-get install --quiet=2 --yes -o DPkg::Lock::Timeout=60 "lustre-client-modules-$(uname -r)"
}

if mountpoint --quiet "$FOLDER"; then
    log "$FOLDER: mounted already"
    exit
fi
command -v mount.lustre >/dev/null || (install_client) ||
    not_mountable "the AMI has no Lustre client, and it could not be installed"
mkdir -p "$FOLDER"
problem="$(module reach "$NODE_FSX_DNS" 988 "$((STEP_SECONDS / 3))")" ||
    not_mountable "$problem. Its security group must take ports 988 and 1018-1023 from the nodes"
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
said="$(mount -t lustre -o relatime,flock "$NODE_FSX_DNS@tcp:/$NODE_FSX_NAME" "$FOLDER" 2>&1)" ||
    not_mountable "$said"
log "$FOLDER: mounted"
