#!/usr/bin/env bash
# Run the tests that need large packages, in separate environments: tools/extras.bash [PYTEST ARGUMENTS]
# requirements/extras.txt and requirements/mjlab.txt install PyTorch with the CUDA libraries, about 5 GB each.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
for name in extras mjlab; do
  venv=.venv-$name
  if ! sha256sum --check --status "$venv/installed" 2>/dev/null; then
    "${PYTHON:-python3}" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off \
      --no-deps --require-hashes -r "requirements/$name.txt"
    sha256sum "requirements/$name.txt" >"$venv/installed"
  fi
  PYTHONPATH="$PWD:$PWD/test" "$venv/bin/python" -m pytest -c /dev/null --rootdir "$PWD" test/extras "$@"
done
