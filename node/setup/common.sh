# Read by setup.sh and by each step. A step's environment has what node/config.py lists, and
# STEP_SECONDS: how long it may take.
# shellcheck shell=bash

log() {
    printf '%s %s\n' "$(date --utc +%FT%TZ)" "$*"
}

# Usage: fail TEXT   Ends the step; the text is what everybody gets to read.
fail() {
    log "ERROR: $(printf '%s' "$*" | tr '\n' ' ')"
    exit 1
}

# Usage: module NAME ARGUMENT...   One of this folder's Python modules.
module() {
    /opt/mask-rcnn/bin/python -m "node.$1" "${@:2}"
}

# Usage: put FILE [MODE] <CONTENT   Writes a file unless it has that content; true if it was written.
put() {
    local content file="$1" mode="${2:-0644}"
    content="$(cat && echo .)"
    content="${content%.}"
    if [[ -f "$file" && "$(stat --format=%a "$file")" == "${mode#0}" ]] &&
        printf '%s' "$content" | cmp --quiet - "$file"; then
        return 1
    fi
    mkdir -p "${file%/*}"
    printf '%s' "$content" >"$file.new" && chmod "$mode" "$file.new" && mv "$file.new" "$file"
    log "$file: written"
}

# Usage: install_packages DNF-NAMES APT-NAMES   Signed by the distribution. dnf works over HTTPS;
# Ubuntu's archive is on port 80, which the nodes' security group does not let out: there the AMI
# must have them.
install_packages() {
    local dnf_names apt_names
    read -ra dnf_names <<<"$1"
    read -ra apt_names <<<"$2"
    if command -v dnf >/dev/null; then
        dnf install --assumeyes --quiet "${dnf_names[@]}"
    elif command -v yum >/dev/null; then
        yum install --assumeyes --quiet "${dnf_names[@]}"
    else
        export DEBIAN_FRONTEND=noninteractive
        apt-get update --quiet=2 &&
            apt-get install --quiet=2 --yes --no-install-recommends \
                -o DPkg::Lock::Timeout=60 "${apt_names[@]}"
    fi
}
