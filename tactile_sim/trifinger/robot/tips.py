"""Tips that feel also where a robot's tip is but the end of its lower link's mesh."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

REACH = 0.015
"""[m] from a tip's centre towards its link: how much of the link's end is the tip."""


def split_tips(spec: mujoco.MjSpec, tips: Sequence[mujoco.MjsBody]) -> None:
    """Gives each tip without a shape the end of its lower link's mesh; the link keeps the rest.

    Both are convex, as MuJoCo collides with hulls; together they fill less than the hull of the whole did.
    """
    for tip in tips:
        if tip.geoms:
            continue
        [geom] = tip.parent.geoms
        mesh = spec.mesh(geom.meshname)
        vertices, faces = _read_mesh(mesh.file)
        vertices = vertices @ _matrix(geom.quat).T + geom.pos
        # Links hang down from their joints while all angles are 0.
        height = tip.pos[2] + REACH
        geom.pos, geom.quat = np.zeros(3), (1.0, 0.0, 0.0, 0.0)
        geom.meshname = _add_mesh(spec, f"{mesh.name}_shaft", _clipped(vertices, faces, height, 1.0))
        tip.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=_add_mesh(spec, f"{mesh.name}_tip", _clipped(vertices, faces, height, -1.0)),
            pos=-tip.pos,
        )


def _read_mesh(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) [m] of a mesh's file in its own frame, and faces (m, 3)."""
    spec = mujoco.MjSpec()
    spec.add_mesh(name="mesh", file=file)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    model = spec.compile()
    return model.mesh_vert @ _matrix(model.mesh_quat[0]).T + model.mesh_pos[0], model.mesh_face


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """(3, 3)"""
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, quaternion)
    return out.reshape(3, 3)


def _clipped(vertices: np.ndarray, faces: np.ndarray, height: float, side: float) -> np.ndarray:
    """(n, 3) corners of what a mesh has above a height (side 1) or below it (side -1)."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    a, b = vertices[edges[:, 0]], vertices[edges[:, 1]]
    crossing = (a[:, 2] - height) * (b[:, 2] - height) < 0
    a, b = a[crossing], b[crossing]
    part = (height - a[:, 2:]) / (b[:, 2:] - a[:, 2:])
    kept = vertices[side * (vertices[:, 2] - height) >= 0]
    return np.concatenate([kept, a + part * (b - a)])


def _add_mesh(spec: mujoco.MjSpec, name: str, vertices: np.ndarray) -> str:
    if spec.mesh(name) is None:
        spec.add_mesh(name=name, uservert=vertices.ravel().tolist())
    return name
