#!/bin/bash
# Usage: setup.sh SOURCE-FOLDER, as root, with NOTEBOOK_NAME, REGION, WHEELS and IDLE_MINUTES set.
# The slow part of a start, behind on-start.sh: stops the instance when it is idle, makes the Python
# environment once a version, and tells Jupyter of it. Everything may be run again. What lies below
# the user's home is made by the user.
set -euo pipefail

readonly SOURCE="$1"
readonly NAME=distributed-mask-rcnn
readonly PYTHON=python3.11
readonly USER_HOME=/home/ec2-user
readonly STATE="$USER_HOME/SageMaker/.$NAME"
readonly EXAMPLES="$USER_HOME/SageMaker/$NAME"
readonly REQUIREMENTS="$SOURCE/requirements-notebook.txt"

log() {
    printf '%s %s\n' "$(date --utc +%FT%TZ)" "$*"
}

as_user() {
    runuser --user=ec2-user -- env HOME="$USER_HOME" "$@"
}

stop_when_idle() {
    if ((IDLE_MINUTES == 0)); then
        log "the instance runs until someone stops it"
        return
    fi
    systemctl stop --quiet "$NAME-idle.timer" 2>/dev/null || true
    systemd-run --quiet --collect --unit="$NAME-idle" --on-active=5min --on-unit-active=5min \
        python3 "$SOURCE/stacks/lifecycle/stop_when_idle.py" \
        --notebook "$NOTEBOOK_NAME" --region "$REGION" --minutes "$IDLE_MINUTES"
    log "the instance stops after $IDLE_MINUTES minutes without activity"
}

install_python() {
    dnf install --assumeyes --quiet "$PYTHON"
}

# Sets `origin`: pip's options that say where packages come from.
find_packages() {
    origin=()
    if [[ -n "$WHEELS" ]]; then
        as_user aws s3 sync --region "$REGION" --only-show-errors "$WHEELS" "$STATE/wheels"
        origin=(--no-index --find-links "$STATE/wheels")
    fi
}

# Sets `environment`, named after its requirements. The file `complete` in it is written last.
make_environment() {
    local digest
    digest="$(sha256sum "$REQUIREMENTS")"
    environment="$STATE/environment-${digest%% *}"
    if [[ ! -e "$environment/complete" ]]; then
        log "making $environment"
        as_user rm -rf "$environment"
        as_user "$PYTHON" -m venv "$environment"
        find_packages
        as_user "$environment/bin/python" -m pip install --quiet --no-cache-dir \
            --disable-pip-version-check --require-hashes "${origin[@]}" --requirement "$REQUIREMENTS"
        as_user touch "$environment/complete"
    fi
    as_user tee "$environment/lib/$PYTHON/site-packages/$NAME.pth" <<<"$SOURCE" >/dev/null
}

# Jupyter lists kernels outside of what outlives a stop.
register_kernel() {
    as_user "$environment/bin/python" -m ipykernel install --user --name "$NAME" \
        --display-name "Distributed Mask R-CNN" --env AWS_REGION "$REGION" >/dev/null
}

# For terminals. A link would not do: Python looks for its environment where the link leads.
make_command() {
    printf '#!/bin/bash\nexec "%s" "$@"\n' "$environment/bin/python" >"/usr/local/bin/$NAME"
    chmod 0755 "/usr/local/bin/$NAME"
}

# What the user has changed is kept.
copy_examples() {
    local part
    as_user mkdir --parents "$EXAMPLES"
    for part in jobs notebooks; do
        [[ ! -d "$SOURCE/$part" ]] ||
            as_user cp --recursive --no-clobber "$SOURCE/$part" "$EXAMPLES"
    done
}

remove_older_environments() {
    local folder
    for folder in "$STATE"/environment-*; do
        [[ "$folder" == "$environment" ]] || as_user rm -rf "$folder"
    done
}

say_how_it_ended() {
    if (($? == 0)); then
        log "ready: the kernel \"Distributed Mask R-CNN\"; in a terminal: $NAME -m training.launch"
    else
        log "ERROR: the setup broke off. Stop the notebook and start it to try again"
    fi
}

main() {
    local environment origin
    trap say_how_it_ended EXIT
    stop_when_idle
    install_python
    as_user mkdir --parents "$STATE"
    make_environment
    register_kernel
    make_command
    copy_examples
    remove_older_environments
}

main
