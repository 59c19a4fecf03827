#!/bin/bash
# Waits until the clock is in sync: AWS refuses requests of a clock that is minutes off, and the
# register counts seconds. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/set-time.html
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

readonly WITHIN_S=0.5

is_in_sync() {
    if command -v chronyc >/dev/null; then
        timeout 20 chronyc waitsync 1 "$WITHIN_S" 0 1 >/dev/null 2>&1
    else
        [[ "$(timeout 5 timedatectl show --property=NTPSynchronized --value)" == yes ]]
    fi
}

while ! is_in_sync; do
    ((SECONDS + 10 < STEP_SECONDS)) ||
        fail "clock not in sync: neither chrony nor systemd's time service has reached a time" \
            "server in $SECONDS s (AWS has one at 169.254.169.123; see chronyc sources)"
    sleep 1
done
log "the clock is in sync"
