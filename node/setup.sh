#!/bin/bash
# Usage: setup.sh, as root, at the first start (from user data) and at every later one (from
# mask-rcnn-setup.service). Makes this instance a ready, registered and reachable node of its
# cluster, or says why it is none: to CloudFormation, on the console, in the cluster's register and
# in its log group. It may be run again at any time: what is done already stays as it is.
#
# Each step is one file in setup/, runs for at most as many seconds as the list in `main` says, and
# all of them within node.json's setup_minutes.
set -uo pipefail
umask 022
export PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}"

HERE="$(dirname "$(realpath "${BASH_SOURCE[0]}")")"
readonly HERE
readonly LOGS=/var/log/mask-rcnn
readonly LOG=$LOGS/setup.log
readonly STATE=/var/lib/mask-rcnn
readonly PYTHON=/opt/mask-rcnn/bin/python

# shellcheck source=setup/common.sh
source "$HERE/setup/common.sh"

main() {
    prepare
    step find_python
    step read_config
    local end=$((NODE_SETUP_SECONDS / 4))
    ((end < END_SECONDS)) || end=$END_SECONDS
    deadline=$((NODE_SETUP_SECONDS - end))
    # First, so that a start in the middle of the rest is one more try.
    run command 30
    run clock 90
    run gpus 200
    run limits 30
    run efs 300
    [[ -z "$NODE_FSX_DNS" ]] || run fsx 600
    run scratch 180
    [[ -z "$NODE_ELASTIC_IP" ]] || run address 120
    run keys 900
    run "$NODE_RUNS_IN" 3300
    run services 120
}

# How long the last part may take: telling everybody how it went.
readonly END_SECONDS=90

prepare() {
    mkdir -p "$LOGS" "$STATE" /run/mask-rcnn
    chmod 0700 /run/mask-rcnn
    exec {lock}>/run/mask-rcnn/setup.lock
    if ! flock -w 5 "$lock"; then
        say "another set-up of this node is running"
        exit 1
    fi
    # One run's log is what CloudWatch gets: events of a request must be within 24 hours.
    [[ ! -e "$LOG" ]] || mv -f "$LOG" "$LOG.1"
    trap finish EXIT
    trap 'reason="it was interrupted"; exit 143' TERM INT HUP
    say "the set-up begins"
}

# Runs a function of this file as a step.
step() {
    current="$1"
    "$1" || exit 1
}

# The system's Python where it is new enough; Amazon Linux 2 has a newer one beside it.
find_python() {
    local name found
    mkdir -p "${PYTHON%/*}"
    for name in python3 python3.12 python3.11 python3.10 python3.9; do
        found="$("$name" -c 'import os, sys
if sys.version_info >= (3, 9): print(os.path.realpath(sys.executable))' 2>/dev/null)" || continue
        [[ -n "$found" ]] || continue
        [[ "$(readlink "$PYTHON")" == "$found" ]] || ln -sfn "$found" "$PYTHON"
        export PYTHONPATH="${HERE%/*}" PYTHONDONTWRITEBYTECODE=1
        return
    done
    reason="this AMI has no Python 3.9 or newer: take the default AMI (cluster_ami empty) or add one"
    return 1
}

# Values come as NAME=VALUE with a zero byte after each, so that none is read as a command.
read_config() {
    local pair
    while IFS= read -r -d '' pair; do
        export "${pair?}"
    done < <("$PYTHON" -m node.config 2>"$LOGS/config.log")
    [[ -z "${NODE_CLUSTER:-}" ]] || return 0
    reason="$(reason_in "$LOGS/config.log")"
    return 1
}

# Usage: run STEP SECONDS
run() {
    local limit="$2" code pid give_up
    current="$1"
    if ((SECONDS >= deadline)); then
        reason="nothing is left of its time, $NODE_SETUP_SECONDS s (setup_minutes)"
        exit 1
    fi
    ((SECONDS + limit <= deadline)) || limit=$((deadline - SECONDS))
    STEP_SECONDS=$limit timeout --kill-after=5 "$limit" bash "$HERE/setup/$1.sh" \
        >"$LOGS/$1.log" 2>&1 </dev/null {lock}>&- &
    pid=$!
    step_pid=$pid
    # Not `wait`: a process inside a mount that hangs does not even end when it is killed.
    give_up=$((SECONDS + limit + 10))
    while kill -0 "$pid" 2>/dev/null && ((SECONDS < give_up)); do
        sleep 0.05
    done
    code=137
    kill -0 "$pid" 2>/dev/null || { wait "$pid" && code=0 || code=$?; }
    step_pid=
    tee -a "$LOG" <"$LOGS/$1.log"
    case "$code" in
    0) return ;;
    124 | 137) reason="it took longer than $limit s. The last of it: $(tail -n 1 "$LOGS/$1.log")" ;;
    *) reason="$(reason_in "$LOGS/$1.log")" ;;
    esac
    exit 1
}

# Usage: reason_in FILE   The last error of a step, else its last line.
reason_in() {
    local found
    found="$(grep -a 'ERROR: ' "$1" | tail -n 1)"
    [[ -n "$found" ]] || found="$(tail -n 1 "$1")"
    found="${found##*ERROR: }"
    printf '%s' "${found:-it says nothing}"
}

say() {
    log "$*" | tee -a "$LOG"
}

finish() {
    local code=$? text
    trap - EXIT
    trap '' TERM INT HUP
    [[ -z "$step_pid" ]] || kill -TERM "$step_pid" 2>/dev/null
    if ((code == 0)); then
        say "this node is ready"
        signal SUCCESS
        send_log
        resume_jobs
    else
        text="the set-up of this node failed at $current: $reason"
        say "ERROR: $text"
        to_console "$text"
        register_failure "$text"
        # The signal comes last: a deployment that hears of it ends the instance.
        send_log
        signal FAILURE
    fi
    exit "$code"
}

# What `aws ec2 get-console-output` shows, even where nothing else can be reached.
to_console() {
    [[ -w /dev/console ]] || return 0
    # shellcheck disable=SC2016  # the text is an argument, not part of the command
    timeout 5 bash -c 'printf "mask-rcnn: %s\n" "$1" >/dev/console' _ "$1" 2>/dev/null || true
}

# Usage: signal SUCCESS|FAILURE
# CloudFormation takes a signal only while it waits: not of a worker that comes later by itself.
signal() {
    local instance
    [[ -n "${NODE_RESOURCE:-}" && ! -e "$STATE/signalled" ]] || return 0
    if ! instance="$(timeout 10 "$PYTHON" -m node.metadata instance-id 2>&1)"; then
        say "CloudFormation cannot be told: $instance"
        return
    fi
    if timeout 30 aws cloudformation signal-resource --stack-name "$NODE_STACK" \
        --logical-resource-id "$NODE_RESOURCE" --unique-id "$instance" --status "$1" \
        >"$LOGS/signal.log" 2>&1; then
        say "CloudFormation was told: $1"
        [[ "$1" == FAILURE ]] || touch "$STATE/signalled"
    else
        say "CloudFormation took no signal, as when no deployment waits: $(tail -n 1 "$LOGS/signal.log")"
    fi
}

# So that whoever waits for this node is told why it does not come.
register_failure() {
    [[ -n "${NODE_EFS_MOUNT:-}" ]] || return 0
    # It may be this mount that hangs.
    timeout --kill-after=2 5 mountpoint --quiet "$NODE_EFS_MOUNT" || return 0
    timeout --kill-after=2 15 "$PYTHON" -m node.registration failed "$1" 2>&1 | tee -a "$LOG"
}

send_log() {
    local instance
    [[ -n "${NODE_LOG_GROUP:-}" ]] || return 0
    instance="$(timeout 10 "$PYTHON" -m node.metadata instance-id 2>/dev/null)" || return 0
    timeout 40 "$PYTHON" -m node.setup_log "$LOG" "$instance/setup" 2>&1 | tee -a "$LOG"
}

# Jobs that an earlier head left unfinished, or this one before it was started again.
resume_jobs() {
    [[ "$NODE_ROLE" == head ]] || return 0
    local try
    for try in 1 2 3; do
        timeout --kill-after=5 60 /opt/mask-rcnn/bin/mask-rcnn-node resume 2>&1 | tee -a "$LOG" &&
            return
        say "attempt $try to resume the jobs failed"
        sleep 2
    done
}

current=prepare reason="" step_pid="" deadline=0 lock=""
main
