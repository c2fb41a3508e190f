#!/usr/bin/env bash
# Run the demo: SCENE (a shipped configuration or a path) for DURATION seconds of wall time, or until Ctrl-C.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/env.bash"
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST  # keep DDS discovery on this machine
exec tactile_sim demo "${SCENE:-touch_cube}" ${DURATION:+--duration "$DURATION"}
