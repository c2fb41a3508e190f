"""Kinds of geoms, the triangle meshes of capsules, mesh geoms and height fields, and the colors of geoms."""

from __future__ import annotations

import mujoco
import numpy as np

GEOM = mujoco.mjtGeom
KINDS = {
    GEOM.mjGEOM_SPHERE: "sphere",
    GEOM.mjGEOM_CAPSULE: "capsule",
    GEOM.mjGEOM_CYLINDER: "cylinder",
    GEOM.mjGEOM_ELLIPSOID: "ellipsoid",
    GEOM.mjGEOM_BOX: "box",
    GEOM.mjGEOM_MESH: "mesh",
}
"""Names of the types of geoms that can have skin and feelers."""
UNFIT = {
    GEOM.mjGEOM_PLANE: "a plane",
    GEOM.mjGEOM_HFIELD: "a height field",
    GEOM.mjGEOM_SDF: "a signed distance field",
}
_DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's default color of a geom."""


def capsule_mesh(radius: float, half_length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangle mesh of a capsule along z, centered at the origin.

    Args:
        radius: Radius [m].
        half_length: Half length of the cylindrical part [m].

    Returns:
        Vertices (v, 3) [m], and vertex indices of the triangles (t, 3).
    """
    import trimesh  # takes 0.15 s and is needed for capsules only

    # The origin of trimesh's capsule differs between its versions, so the bounds are centered here.
    mesh = trimesh.creation.capsule(height=2 * half_length, radius=radius, count=[16, 16])
    return mesh.vertices - mesh.bounds.mean(axis=0), mesh.faces


def geom_colors(model: mujoco.MjModel) -> np.ndarray:
    """Return one color for each geom.

    A geom with MuJoCo's default color gets the color of its material, if it has one. If the material has a
    texture, the color is multiplied by the texture's mean color.

    Returns:
        Red, green, blue and alpha (ngeom, 4), 0 to 1.
    """
    own = model.geom_rgba.copy()
    material = model.geom_matid
    plain = (material >= 0) & np.all(np.isclose(own, _DEFAULT_COLOR), axis=1)
    own[plain] = model.mat_rgba[material[plain]]
    for mat, texture in enumerate(model.mat_texid[:, mujoco.mjtTextureRole.mjTEXROLE_RGB]):
        if texture >= 0:
            own[material == mat, :3] *= _mean_color(model, texture)
    return own


def _mean_color(model: mujoco.MjModel, texture: int) -> np.ndarray:
    channels = int(model.tex_nchannel[texture])
    size = int(model.tex_width[texture]) * int(model.tex_height[texture]) * channels
    texels = model.tex_data[model.tex_adr[texture] :][:size].reshape(-1, channels)
    return texels[:, :3].mean(axis=0) / 255.0


def geom_mesh(model: mujoco.MjModel, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mesh of a mesh or height field geom.

    Returns:
        Vertices (v, 3) in the geom's frame [m], and vertex indices of the triangles (t, 3).
    """
    data = model.geom_dataid[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_HFIELD:
        return _height_field(model, data)
    vertices = model.mesh_vert[model.mesh_vertadr[data] :][: model.mesh_vertnum[data]]
    faces = model.mesh_face[model.mesh_faceadr[data] :][: model.mesh_facenum[data]]
    return vertices, faces


def _height_field(model: mujoco.MjModel, data: int) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = model.hfield_nrow[data], model.hfield_ncol[data]
    half_x, half_y, height, _ = model.hfield_size[data]
    x, y = np.meshgrid(np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows))
    z = height * model.hfield_data[model.hfield_adr[data] :][: rows * columns].reshape(rows, columns)
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    # Cells are split along the same diagonal as in MuJoCo's collision detection and ray casting.
    faces = np.stack([np.stack([a, b, d], -1), np.stack([a, d, c], -1)], 2).reshape(-1, 3)
    return np.stack([x, y, z], -1).reshape(-1, 3), faces
