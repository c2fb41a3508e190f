#!/usr/bin/env bash
# Draws every picture of README.md and docs/ anew, each with the script that made it.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source tools/env.bash
export MUJOCO_GL="${MUJOCO_GL:-egl}"  # without a screen; osmesa where there is no EGL
readonly SCRIPTS=(figures picture signal_chain feelers_figures bag_figures view_pictures rviz_picture)
for script in "${SCRIPTS[@]}"; do
  echo "pictures: tools/$script.py"
  python "tools/$script.py"
done
