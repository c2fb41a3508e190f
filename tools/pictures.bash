#!/usr/bin/env bash
# Regenerate all figures of README.md and docs/ with their scripts.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source tools/env.bash
export MUJOCO_GL="${MUJOCO_GL:-egl}"  # without a display; use osmesa if EGL is not available
readonly SCRIPTS=(figures picture turning_hand imprint signal_chain feelers_figures bag_figures view_pictures terminal_pictures rviz_picture learning_curve)
for script in "${SCRIPTS[@]}"; do
  echo "pictures: tools/$script.py"
  python "tools/$script.py"
done
