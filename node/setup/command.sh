#!/bin/bash
# Puts the node's command and its units in their places.
set -euo pipefail
# shellcheck source=common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

node="$(realpath "${BASH_SOURCE[0]%/*}/..")"
readonly UNITS=/etc/systemd/system

# Zip archives bring no modes.
chmod 0755 "$node/hosts" "$node/mask-rcnn-node"
put /opt/mask-rcnn/bin/mask-rcnn-node 0755 <<'COMMAND' || true
#!/bin/bash
exec /opt/mask-rcnn/bin/python /opt/mask-rcnn/node/mask-rcnn-node "$@"
COMMAND

is_new=
for unit in "$node"/units/*.*; do
    ! put "$UNITS/${unit##*/}" <"$unit" || is_new=1
done
[[ -z "$is_new" ]] || systemctl daemon-reload
# At later starts this one runs the set-up, which starts the others when all is mounted.
systemctl is-enabled --quiet mask-rcnn-setup.service ||
    systemctl enable --quiet mask-rcnn-setup.service
