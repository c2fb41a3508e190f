#!/usr/bin/env bash
# Run a command in the workspace of the image.
set -e
source /workspace/install/setup.bash
exec "$@"
