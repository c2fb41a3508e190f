"""Decompose meshes into convex parts with the optional package ``coacd``, and cache the results."""

from __future__ import annotations

import hashlib
import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.files import MOST_ASSET, read_file
from tactile_sim.scenes.meshes import cached, mujoco_mesh, read_mesh

THRESHOLD = 0.05
"""Parts with a concavity below this fraction of the mesh's size are not divided further."""


def convex_parts(path: Path, where: str) -> list[Path]:
    """Return OBJ files with convex parts that together approximate a mesh.

    Args:
        path: Mesh file in any format that `mujoco_mesh` accepts.
        where: Prefix for error messages.

    Raises:
        SceneError: Coacd is not installed, or the mesh cannot be read or divided.
    """
    file = mujoco_mesh(path, where)
    try:
        digest = hashlib.sha256(read_file(file, MOST_ASSET)).hexdigest()[:32]
    except OSError as error:
        raise SceneError(f"{where}: {file}: cannot be read: {error.strerror or error}") from None
    name = f"{digest}-{THRESHOLD:g}-parts"
    archive = cached(f"{name}.npz", lambda: _divide(file, where))
    with np.load(archive) as saved:
        count = len(saved.files) // 2
        return [
            cached(f"{name}-{k}.obj", partial(_obj, saved[f"vertices{k}"], saved[f"faces{k}"]))
            for k in range(count)
        ]


def _divide(file: Path, where: str) -> bytes:
    """Divide a mesh into convex parts; return the bytes of an NPZ file with their vertices and faces."""
    try:
        import coacd
    except ImportError:
        raise SceneError(
            f"{where}: needs the package coacd; install it: pip install coacd, or set decompose: false"
        ) from None
    mesh = read_mesh(file, where)
    coacd.set_log_level("error")
    try:
        parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=THRESHOLD, seed=1)
    except RuntimeError as error:
        raise SceneError(f"{where}: {file}: cannot be divided: {error}") from None
    arrays: dict[str, Any] = {}
    for k, (vertices, faces) in enumerate(parts):
        arrays |= {f"vertices{k}": vertices, f"faces{k}": faces}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _obj(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
    return "\n".join(lines).encode() + b"\n"
