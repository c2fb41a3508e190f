"""Triangle meshes of geometric primitives, compatible with MIMo's ``mimoTouch.sensormeshes``.

All primitives are centered on the origin with their axis along z. The vertices are identical to MIMo's, in
the same order, and about one ``resolution`` [m] apart. The normals of the triangles point outward, and all
meshes except the pipe's are closed and convex. A primitive that is too small for the resolution
becomes a ``trimesh.PointCloud`` with one vertex at its center. Invalid arguments raise `TactileSimError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tactile_sim.skin.placement import mimo_meshes
from tactile_sim.skin.placement.mimo_points import checked

if TYPE_CHECKING:
    import trimesh


def mesh_box(resolution: float, sizes: ArrayLike) -> trimesh.Trimesh | trimesh.PointCloud:
    """Mesh a box with half lengths (3,) of its edges [m], with a grid on each face.

    The result is a single vertex if 3/4 of the resolution exceeds all sizes.
    """
    return _trimesh(mimo_meshes.box(*checked("mesh_box", resolution, sizes=sizes)))


def mesh_sphere(resolution: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Mesh a sphere with a radius [m] as the convex hull of rings of latitude.

    The result is a single vertex if the resolution exceeds the radius.
    """
    return _trimesh(mimo_meshes.sphere(*checked("mesh_sphere", resolution, radius=radius)))


def mesh_ellipsoid(resolution: float, radii: ArrayLike) -> trimesh.Trimesh | trimesh.PointCloud:
    """Mesh an ellipsoid with radii (3,) [m] as a sphere of its largest radius, scaled along each axis.

    The result is a single vertex if the resolution exceeds the largest radius.
    """
    return _trimesh(mimo_meshes.ellipsoid(*checked("mesh_ellipsoid", resolution, radii=radii)))


def mesh_pipe(resolution: float, length: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Mesh the side of a pipe with a length and a radius [m], without caps, with rings along its axis.

    With length 0, the result is a ring of vertices without triangles.
    """
    return _trimesh(mimo_meshes.pipe(*checked("mesh_pipe", resolution, length=length, radius=radius)))


def mesh_cylinder(resolution: float, length: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Mesh a cylinder with a length and a radius [m], with rings on its side and both caps.

    The result is a single vertex if a ring would have fewer than three vertices, the length is at most the
    resolution, or the radius is at most half the resolution.
    """
    return _trimesh(mimo_meshes.cylinder(*checked("mesh_cylinder", resolution, length=length, radius=radius)))


def mesh_capsule(resolution: float, length: float, radius: float) -> trimesh.Trimesh | trimesh.PointCloud:
    """Mesh a capsule with rings on its cylinder, of a length [m], and both hemispheres, of a radius [m].

    The result is a single vertex if a ring would have fewer than three vertices.
    """
    return _trimesh(mimo_meshes.capsule(*checked("mesh_capsule", resolution, length=length, radius=radius)))


def _trimesh(mesh: mimo_meshes.Mesh) -> trimesh.Trimesh | trimesh.PointCloud:
    import trimesh  # imported on first use, since it takes 0.5 s

    if len(mesh.vertices) == 1:
        return trimesh.PointCloud(mesh.vertices)
    return trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
