"""Triangle meshes over geometric primitives, as MIMo's ``mimoTouch.sensormeshes`` makes them.

All primitives are centred on the origin, their axes along z. The vertices are MIMo's, in its order, about the
resolution [m] apart; triangles are wound outward, and all meshes but the pipe's are closed and convex. A
primitive too small for the resolution is a ``trimesh.PointCloud`` of one vertex at its centre, as in MIMo.
Arguments that make no sense raise `TactileSimError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tactile_sim.skin.placement import mimo_meshes
from tactile_sim.skin.placement.mimo_points import checked

if TYPE_CHECKING:
    import trimesh


def mesh_box(resolution: float, sizes: ArrayLike) -> trimesh.Trimesh | trimesh.PointCloud:
    """Grids over the faces of a box; one vertex if 3/4 of the resolution is above all sizes.

    resolution: about the distance between vertices [m]; sizes (3,): half of the edges [m].
    """
    return _trimesh(mimo_meshes.box(*checked("mesh_box", resolution, sizes=sizes)))


def mesh_sphere(resolution: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """The convex hull of rings of latitude; one vertex if the resolution is above the radius.

    resolution: about the distance between vertices [m]; radius [m].
    """
    return _trimesh(mimo_meshes.sphere(*checked("mesh_sphere", resolution, radius=radius)))


def mesh_ellipsoid(resolution: float, radii: ArrayLike) -> trimesh.Trimesh | trimesh.PointCloud:
    """The mesh of a sphere of the largest radius, scaled along each axis.

    resolution: about the largest distance between vertices [m]; radii (3,) along the axes [m].
    """
    return _trimesh(mimo_meshes.ellipsoid(*checked("mesh_ellipsoid", resolution, radii=radii)))


def mesh_pipe(resolution: float, length: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Rings along a pipe, open at both ends; one without length is a ring of vertices without triangles.

    resolution: about the distance between vertices [m]; length [m] and radius [m].
    """
    return _trimesh(mimo_meshes.pipe(*checked("mesh_pipe", resolution, length=length, radius=radius)))


def mesh_cylinder(resolution: float, length: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Rings along the side and on both caps.

    One vertex if there would be fewer than three around, the length is within the resolution or the radius
    within half of it. resolution: about the distance between vertices [m]; length [m] and radius [m].
    """
    return _trimesh(mimo_meshes.cylinder(*checked("mesh_cylinder", resolution, length=length, radius=radius)))


def mesh_capsule(resolution: float, length: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Rings along the pipe and on both hemispheres; one vertex if there would be fewer than three around.

    resolution: about the distance between vertices [m]; length: without the hemispheres [m]; radius [m].
    """
    return _trimesh(mimo_meshes.capsule(*checked("mesh_capsule", resolution, length=length, radius=radius)))


def _trimesh(mesh: mimo_meshes.Mesh) -> trimesh.Trimesh | trimesh.PointCloud:
    import trimesh  # takes half a second: only who asks for a mesh waits for it

    if len(mesh.vertices) == 1:
        return trimesh.PointCloud(mesh.vertices)
    return trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
