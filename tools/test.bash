#!/usr/bin/env bash
# The whole suite, or what the arguments name: tools/test.bash test/test_packaging.py -k wheel
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source tools/env.bash
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST  # tests do not talk to the whole network
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1         # pytest 9 refuses the plugins that a ROS installation registers
# Shared memory that killed processes of Fast DDS have left behind would fill the memory, and may stay locked.
command -v fastdds >/dev/null && fastdds shm clean >/dev/null 2>&1 || true
[ $# = 0 ] || exec python -m pytest "$@"
# Of the whole suite, what starts nodes and browsers goes file by file, as it is about time; the rest two at a time.
ALONE=(test/ros test/view)
code=0
python -m pytest -p xdist -n 2 --dist loadfile "${ALONE[@]/#/--ignore=}" || code=$?
python -m pytest "${ALONE[@]}" || code=$?
exit "$code"
