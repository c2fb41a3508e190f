#!/usr/bin/env bash
# Build the documentation site: build/docs/index.html
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source tools/env.bash
site=.venv/docs
if ! sha256sum --check --status "$site/installed" 2>/dev/null; then
  rm -rf "$site"
  python -m venv "$site"
  "$site/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.txt
  # The packages of the project are visible, for the reference of its Python names.
  python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$site/bin/python" -c \
    'import sysconfig; print(sysconfig.get_path("purelib"))')/project.pth"
  sha256sum docs/requirements.txt >"$site/installed"
fi
"$site/bin/python" -m sphinx --fail-on-warning --keep-going --quiet -b html docs build/docs
echo "build/docs/index.html"
