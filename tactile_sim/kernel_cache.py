"""Compiled kernels on disk, thrown away where what they were made of has changed.

Numba looks at a function's own file alone: after a change elsewhere it would go on with the old code of all
that the function calls.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

empty = False
"""Whether this process found no kernels when it started: to compile them takes it some seconds."""
PATIENCE_ASKED = "compiling kernels, some 15 s, at the first start after an installation only"
"""What to say then, before it is done."""


def drop_stale(package: Path) -> bool:
    """Removes compiled kernels of a package that are older than its newest source file with a kernel.

    Returns whether none are left.
    """
    compiled: list[os.DirEntry] = []
    newest = 0.0
    for cache in package.rglob("__pycache__"):
        found = [entry for entry in os.scandir(cache) if entry.name.endswith((".nbi", ".nbc"))]
        compiled += found
        for module in {entry.name.partition(".")[0] for entry in found}:
            with suppress(FileNotFoundError):  # a module that is gone
                newest = max(newest, (cache.parent / f"{module}.py").stat().st_mtime)
    left = len(compiled)
    for entry in compiled:
        with suppress(OSError):  # another process was quicker, or the folder is not ours
            if entry.stat().st_mtime < newest:
                os.unlink(entry.path)
                left -= 1
    return left == 0
