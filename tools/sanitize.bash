#!/usr/bin/env bash
# Run tests with the native core compiled under sanitizers: tools/sanitize.bash address,undefined test/skin
# With `thread`, it runs the tests of batches by default, otherwise all tests of the core.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
[ -n "${VIRTUAL_ENV-}" ] || source tools/env.bash
readonly SANITIZERS="${1:?sanitizers, such as address,undefined or thread}" BUILD="$PWD/build/sanitize-$1"
shift
cmake -S core -B "$BUILD" -DPython_EXECUTABLE="$(command -v python)" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS="-fsanitize=$SANITIZERS -fno-sanitize-recover=all -fno-omit-frame-pointer" \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$BUILD/path/tactile_sim" > /dev/null
cmake --build "$BUILD" --parallel "$(nproc)"
case "$SANITIZERS" in
  thread) library=tsan tests=(test/batch) ;;
  *) library=asan tests=(test/skin test/feelers test/signal_chain test/batch test/test_contacts.py test/test_simulation.py) ;;
esac
[ $# = 0 ] || tests=("$@")
# This module is found before that of the set-up. Python itself leaks, MuJoCo and NumPy are not instrumented, and tests
# expect an error from allocations that are too large.
export PYTHONPATH="$PWD:$BUILD/path" LD_PRELOAD="$(c++ -print-file-name=lib$library.so) $(c++ -print-file-name=libstdc++.so)"
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 TSAN_OPTIONS="ignore_noninstrumented_modules=1 report_signal_unsafe=0"
python -c 'from tactile_sim import _core; print("sanitized:", _core.__file__)'
exec python -m pytest -q -p no:cacheprovider "${tests[@]}"
