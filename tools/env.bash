# Activate the environment created by `make setup` in a bash shell: source tools/env.bash
# python, tactile_sim and ros2 (if installed) then use the messages and the source tree, whose edits take
# effect immediately. It may be sourced repeatedly, from any folder.

_tactile_sim_root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
_tactile_sim_venv="$_tactile_sim_root/.venv"

_tactile_sim_prepend() {  # VARIABLE FOLDER: put the folder first, without duplicates
  local rest=":${!1-}:"
  rest="${rest//":$2:"/:}"
  rest="${rest#:}"
  rest="${rest%:}"
  export "$1=$2${rest:+:$rest}"
}

if [ ! -x "$_tactile_sim_venv/bin/python" ]; then
  echo "tools/env.bash: .venv is missing; run: make -C $_tactile_sim_root setup" >&2
else
  if [ -n "${ROS_DISTRO-}" ] && grep -q "for ROS: none" "$_tactile_sim_venv/.stamps/made"; then
    echo "tools/env.bash: .venv was created without ROS $ROS_DISTRO, which is sourced; run: make setup" >&2
  fi
  if [ -n "${ROS_DISTRO-}" ]; then  # programs of this ROS use its own Python
    for _tactile_sim_site in "$_tactile_sim_venv"/lib/python3*/site-packages; do
      _tactile_sim_prepend PYTHONPATH "$_tactile_sim_site"
    done
  fi
  _tactile_sim_prepend PYTHONPATH "$_tactile_sim_root"
  _tactile_sim_prepend PATH "$_tactile_sim_venv/bin"
  _tactile_sim_prepend AMENT_PREFIX_PATH "$_tactile_sim_venv"
  _tactile_sim_prepend CMAKE_PREFIX_PATH "$_tactile_sim_venv"
  _tactile_sim_prepend LD_LIBRARY_PATH "$_tactile_sim_venv/lib"
  export VIRTUAL_ENV="$_tactile_sim_venv"
  hash -r
  case $- in *i*) eval "$(register-python-argcomplete tactile_sim)" ;; esac
fi

unset -f _tactile_sim_prepend
unset _tactile_sim_root _tactile_sim_venv _tactile_sim_site
