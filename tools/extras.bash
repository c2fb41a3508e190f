#!/usr/bin/env bash
# Test with the packages of requirements/extras.txt, in .venv-extras: tools/extras.bash [PYTEST ARGUMENTS]
# PyTorch brings the CUDA libraries, about 5 GB.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
venv=.venv-extras
if ! sha256sum --check --status "$venv/installed" 2>/dev/null; then
  "${PYTHON:-python3}" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    --no-deps --require-hashes -r requirements/extras.txt
  sha256sum requirements/extras.txt >"$venv/installed"
fi
PYTHONPATH="$PWD:$PWD/test" exec "$venv/bin/python" -m pytest -c /dev/null --rootdir "$PWD" test/extras "$@"
