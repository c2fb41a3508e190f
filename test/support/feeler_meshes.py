"""Models with a single body for tests of feeler placement."""

from __future__ import annotations

import mujoco
import numpy as np

VISUAL = 'contype="0" conaffinity="0"'
"""Attributes of a visual geom, whose mesh may be flat because it needs no convex hull."""


def numbers(array: np.ndarray) -> str:
    """Format an array as an MJCF attribute."""
    return " ".join(f"{x:.9g}" for x in np.ravel(array))


def inline(corners: np.ndarray, uv: np.ndarray | None = None, name: str = "m") -> str:
    """Return a mesh asset of triangles (t, 3, 3) with u and v (t, 3, 2); unlike in MJCF, v points up."""
    coordinates = "" if uv is None else f'texcoord="{numbers(uv * [1, -1] + [0, 1])}"'
    faces = np.arange(3 * len(corners))
    return (
        f'<mesh name="{name}" inertia="shell" vertex="{numbers(corners)}" {coordinates} '
        f'face="{" ".join(map(str, faces))}"/>'
    )


def scene(assets: str, geoms: str, folder: str = "") -> mujoco.MjModel:
    """Return a model whose only body, with id 1, is rotated and away from the world's origin."""
    compiler = f'<compiler meshdir="{folder}"/>' if folder else ""
    return mujoco.MjModel.from_xml_string(
        f"<mujoco>{compiler}<asset>{assets}</asset><worldbody>"
        f'<body name="thing" pos="1 2 3" euler="30 40 50">{geoms}</body></worldbody></mujoco>'
    )


def one_mesh(corners: np.ndarray, uv: np.ndarray | None = None) -> mujoco.MjModel:
    """Return a model whose body has one geom, `skin`, with a mesh of these triangles."""
    geom = f'<geom name="skin" type="mesh" mesh="m" pos=".1 -.2 .3" euler="10 -20 70" {VISUAL}/>'
    return scene(inline(corners, uv), geom)


def in_body(model: mujoco.MjModel, geom: int = 0) -> np.ndarray:
    """Return the triangle corners (t, 3, 3) of a compiled mesh geom in its body's frame [m]."""
    mesh = model.geom_dataid[geom]
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(float)
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    vertices = vertices @ rotation.reshape(3, 3).T + model.geom_pos[geom]
    return vertices[model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]]
