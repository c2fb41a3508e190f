"""Compiled kernels do not outlive a change of what they were made of."""

import os
import subprocess
import sys

from tactile_sim.kernel_cache import drop_stale

INNER = "from numba import njit\n\n\n@njit(cache=True)\ndef inner():\n    return {}\n"
OUTER = (
    "from numba import njit\n\nfrom {package}.inner import inner\n\n\n"
    "@njit(cache=True)\ndef outer():\n    return inner()\n"
)


def test_a_kernel_follows_a_change_in_a_file_that_it_calls(tmp_path):
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "outer.py").write_text(OUTER.format(package="kernels"))
    answers = []
    for number in (1, 2):
        (package / "inner.py").write_text(INNER.format(number))
        # As if written a second later: some file systems tell times no finer.
        later = os.stat(package / "outer.py").st_mtime + 10 * (number - 1)
        os.utime(package / "inner.py", (later, later))
        assert drop_stale(package)
        done = subprocess.run(
            [sys.executable, "-c", "from kernels.outer import outer; print(outer())"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        answers.append(done.stdout.strip())
    assert answers == ["1", "2"]


def test_kernels_stay_where_nothing_has_changed(tmp_path):
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (tmp_path / "outer.py").write_text("")
    kept, orphan = cache / "outer.f-1.py311.nbi", cache / "gone.g-1.py311.nbi"
    kept.touch()
    orphan.touch()
    assert not drop_stale(tmp_path)
    assert kept.exists() and orphan.exists()
