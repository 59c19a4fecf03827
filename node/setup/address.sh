#!/bin/bash
# Gives the head the cluster's Elastic IP, so that its address outlives it. AWS leaves it where it
# is when this node has it already.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

mac="$(module metadata mac)"
interface="$(module metadata "network/interfaces/macs/$mac/interface-id")"
said="$(timeout 40 aws ec2 associate-address --allocation-id "$NODE_ELASTIC_IP" \
    --network-interface-id "$interface" --allow-reassociation 2>&1)" ||
    fail "Elastic IP $NODE_ELASTIC_IP cannot be given to this head: $said"
log "the Elastic IP $NODE_ELASTIC_IP is on $interface"
