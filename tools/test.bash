#!/usr/bin/env bash
# Run the whole test suite, or the tests given as arguments: tools/test.bash test/test_packaging.py -k wheel
# With COVERAGE=1 it measures which lines run, also in subprocesses.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source tools/env.bash
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST  # keep DDS discovery on this machine
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1         # pytest 9 rejects the plugins of a ROS installation
unset PYTHONDONTWRITEBYTECODE                   # stored bytecode saves 0.25 s at each start of a program
# Remove shared memory left by killed Fast DDS processes; it would fill the memory and may stay locked.
command -v fastdds >/dev/null && fastdds shm clean >/dev/null 2>&1 || true
RUN=(python -m ${COVERAGE:+coverage run -m} pytest)
[ $# = 0 ] || exec "${RUN[@]}" "$@"
# Four files run at a time, in the order of test/conftest.py, because many tests wait for nodes and browsers.
exec "${RUN[@]}" -p xdist -n 4 --dist loadfile --no-loadscope-reorder
