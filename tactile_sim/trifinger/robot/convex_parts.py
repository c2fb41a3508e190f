"""Split links into convex parts, because MuJoCo uses the convex hull of a mesh for collisions.

Two kinds of links are split. If a tip link has no collision shape, the lower link is split and its end is
assigned to the tip link, which can then have a skin. The middle link of the Edu types is split below its
joint, because the hull of its entire mesh would fill the recess beside the joint. This hull would touch the
base at -0.28 rad, where the mesh is still 3.8 mm away, and the joint could not reach its limit of -π/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from tactile_sim.trifinger.robot.contact import COLLISION_GROUP

TIP_LENGTH = 0.015
"""Height above a tip's centre up to which the lower link's mesh is assigned to the tip [m]."""
CUTS = {"middle_link": -0.02}
"""Height at which a link is split, in the link's frame [m], keyed by the name of the link's mesh."""


def split_links(spec: mujoco.MjSpec, tips: Sequence[mujoco.MjsBody]) -> None:
    """Split the colliding geoms of links into convex parts; the original mesh is still drawn.

    Args:
        spec: Robot with one colliding geom for each moving link.
        tips: Bodies of the tip links.
    """
    for geom in list(spec.geoms):
        if geom.meshname in CUTS:
            _split(spec, geom, CUTS[geom.meshname], geom.parent)
    for tip in tips:
        if not tip.geoms:
            [geom] = tip.parent.geoms
            # Links hang down from their joints when all angles are 0.
            _split(spec, geom, tip.pos[2] + TIP_LENGTH, tip)


def _split(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, height: float, below: mujoco.MjsBody) -> None:
    """Split a geom at a height in its link's frame [m].

    The upper part remains on the link. The lower part is added to the body ``below``.
    """
    link, mesh = geom.parent, spec.mesh(geom.meshname)
    vertices, faces = _read_mesh(mesh.file)
    vertices = vertices @ _matrix(geom.quat).T + geom.pos
    link.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=geom.meshname,
        pos=geom.pos,
        quat=geom.quat,
        contype=0,
        conaffinity=0,
        mass=0,
    )
    geom.pos, geom.quat = np.zeros(3), (1.0, 0.0, 0.0, 0.0)
    geom.meshname = _add_mesh(spec, f"{mesh.name}_above", _clip(vertices, faces, height, 1.0))
    geom.group = COLLISION_GROUP
    below.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=_add_mesh(spec, f"{mesh.name}_below", _clip(vertices, faces, height, -1.0)),
        pos=np.zeros(3) if below.name == link.name else -below.pos,
        group=COLLISION_GROUP,
        mass=0,
    )


def _read_mesh(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a mesh file.

    Returns:
        Vertices (n, 3) in the frame of the file [m].
        Faces (m, 3), as indices of vertices.
    """
    spec = mujoco.MjSpec()
    spec.add_mesh(name="mesh", file=file)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    model = spec.compile()
    return model.mesh_vert @ _matrix(model.mesh_quat[0]).T + model.mesh_pos[0], model.mesh_face


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Convert a quaternion (w, x, y, z) to a rotation matrix (3, 3)."""
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, quaternion)
    return out.reshape(3, 3)


def _clip(vertices: np.ndarray, faces: np.ndarray, height: float, side: float) -> np.ndarray:
    """Return the vertices (n, 3) of the part of a mesh above (side 1) or below (side -1) a height."""
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
