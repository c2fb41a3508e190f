#!/usr/bin/env bash
# Run the demo: SCENE (a shipped configuration or a path) for DURATION seconds of wall time, or until Ctrl-C.
# examples/SCENE_controller.py, if there is one, is its controller.
set -euo pipefail
root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
source "$root/tools/env.bash"
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST  # keep DDS discovery on this machine
scene="${SCENE:-touch_cube}"
controller="$root/examples/${scene}_controller.py"
[ -f "$controller" ] || controller=""
exec tactile_sim demo "$scene" ${DURATION:+--duration "$DURATION"} ${controller:+--controller "$controller"}
