#!/bin/bash
# Locked memory and huge pages for EFA, which the AMI's EFA installer usually has set.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

# For logins through the system's server and for containers; the cluster's own units have theirs.
put /etc/security/limits.d/95-mask-rcnn.conf <<'LIMITS' || true
* soft memlock unlimited
* hard memlock unlimited
root soft memlock unlimited
root hard memlock unlimited
LIMITS

if ! [[ -e /dev/infiniband/uverbs0 ]]; then
    log "no EFA here"
    exit
fi
# libfabric's EFA provider takes 110 MiB in huge pages of 2 MiB an endpoint, one a core at most; it
# works without, slower (libfabric, prov/efa/docs/overview.md).
wanted=$(($(nproc) * 55))
have="$(</proc/sys/vm/nr_hugepages)"
if ((have < wanted)); then
    put /etc/sysctl.d/95-mask-rcnn.conf <<<"vm.nr_hugepages = $wanted" || true
    sysctl --quiet --load=/etc/sysctl.d/95-mask-rcnn.conf
fi
log "EFA: $(</proc/sys/vm/nr_hugepages) huge pages"
