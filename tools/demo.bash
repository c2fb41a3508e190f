#!/usr/bin/env bash
# The demo: SCENE (a shipped configuration or the path of one) for DURATION seconds of wall time, or until Ctrl-C.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/env.bash"
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST  # a demo does not talk to the whole network
exec tactile_sim demo "${SCENE:-touch_cube}" ${DURATION:+--duration "$DURATION"}
