"""Points over the surface of a skin, several for each taxel, with the area that each stands for.

Each triangle between taxels gives one point to each of its three corners, in the middle of the third nearest
to it. Between taxels the surface bends as their normals do: points are lifted halfway to the tangent planes
of the corners (T. Boubekeur, M. Alexa, Phong Tessellation, SIGGRAPH Asia 2008), which is exact for quadratic
surfaces. Where a normal differs from the triangle's by more than 25 degrees, the surface has an edge and the
triangle is flat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

OWN, OTHER = 7 / 12, 5 / 24
"""Barycentric coordinates of the middle of a corner's third."""
SMOOTH = np.cos(np.radians(25.0))


class Quadrature(NamedTuple):
    """The points of all taxels, taxel after taxel. Python hands it to kernels as a plain tuple."""

    begin: np.ndarray
    """(n + 1,) where the points of each taxel begin; each has one or more."""
    positions: np.ndarray
    """(q, 3) in the frames of their bodies [m]."""
    normals: np.ndarray
    """(q, 3) outward, unit; 0 where the taxel has none."""
    areas: np.ndarray
    """(q,) [m2]; those of a taxel sum to its area."""
    taxel_areas: np.ndarray
    """(n,) of the taxels [m2]."""
    smooth: np.ndarray
    """(n,) whether the surface has no edge around a taxel, so that one point stands for it well."""


def quadrature(
    positions: np.ndarray, normals: np.ndarray, areas: np.ndarray, triangles: np.ndarray
) -> Quadrature:
    """Return the points of n taxels.

    Args:
        positions: (n, 3) in the frames of their bodies [m].
        normals: (n, 3) outward, unit or 0.
        areas: (n,) [m2].
        triangles: (t, 3) indices of taxels, wound outward; a taxel in none gets one point, itself.
    """
    corners = positions[triangles]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(cross, axis=1)
    kept = double > 0.0
    triangles, corners, double = triangles[kept], corners[kept], double[kept]
    flat = cross[kept] / double[:, None]
    own = normals[triangles]
    smooth = (np.einsum("tki,ti->tk", own, flat) > SMOOTH).all(axis=1)

    middle = OTHER * corners.sum(axis=1)[:, None] + (OWN - OTHER) * corners
    weights = np.full((3, 3), OTHER) + (OWN - OTHER) * np.eye(3)
    height = np.einsum("tkji,tji->tkj", corners[:, None] - middle[:, :, None], own)
    lift = 0.5 * np.einsum("kj,tkj,tji->tki", weights, height, own)
    middle += np.where(smooth[:, None, None], lift, 0.0)
    facing = np.where(smooth[:, None, None], own, flat[:, None])

    taxels = triangles.ravel()
    alone = np.setdiff1d(np.arange(len(positions)), taxels)
    taxels = np.concatenate([taxels, alone])
    share = np.concatenate([np.repeat(double, 3), np.ones(len(alone))])
    total = np.bincount(taxels, share, minlength=len(positions))
    order = np.argsort(taxels, kind="stable")
    count = np.bincount(taxels, minlength=len(positions))
    edge = np.bincount(triangles[~smooth].ravel(), minlength=len(positions)) > 0
    return Quadrature(
        np.concatenate([[0], np.cumsum(count)]),
        np.concatenate([middle.reshape(-1, 3), positions[alone]])[order],
        np.concatenate([facing.reshape(-1, 3), normals[alone]])[order],
        (areas[taxels] * share / total[taxels])[order],
        np.asarray(areas, float),
        ~edge & (normals != 0.0).any(axis=1),
    )
