"""Fourier solution of an elastic layer on a rigid core, tabulated for native code.

The wave p cos(k x) of pressure on a layer of thickness h deflects its surface by h / E* D p cos(k x), and its
normal stress at a depth z is S p cos(k x); E* is the plane-strain modulus E / (1 - nu^2). D and S follow from
Airy's stress function f(z) cos(k x) with f = (a + b k z) exp(-k z) + (c + d k z) exp(-k (h - z)).
See K. L. Johnson, Contact Mechanics, 1985, section 5.8.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

LEVELS, FINEST = 28, 1.0 / 64.0
"""Number of grid spacings, which grow by the root of 2, and the first one / thickness."""
NODES = 48
"""Number of nodes along each side of a grid, at most."""
_BAND = 0.8 * np.pi
"""Largest wave number of the smooth part of a field times the grid spacing; smaller contacts need no more."""
_LEAST_LOCAL = 0.02
"""Local parts of a stress below this are 0: if taxels are closer than nodes, they would concentrate it."""
_SAMPLES = np.geomspace(1e-3, 1e3, 2000)


def transfer(wave: np.ndarray, poisson: float, depth: float, bonded: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the surface deflection D and the normal stress S at a depth under a wave of pressure.

    Args:
        wave: Wave numbers times thickness, >= 0.
        poisson: Poisson's ratio of the layer, 0 to 0.5.
        depth: Depth / thickness, 0 to 1.
        bonded: Whether the layer adheres to the core; otherwise it slides on it without friction.

    Returns:
        Deflection per pressure [thickness / E*], and stress per pressure.
    """
    # Below the first wave number, rounding errors exceed the differences to the limit.
    k = np.maximum(np.asarray(wave, float), 1e-3)
    e, nu = np.exp(-np.minimum(k, 700.0)), poisson
    zero, one = np.zeros_like(k), np.ones_like(k)
    # Derivatives of the four terms of f with respect to k z, at the surface and at the core.
    surface = [[one, zero, e, -k * e], [-one, one, e, (1 - k) * e], [one, -2 * one, e, (2 - k) * e]]
    surface += [[-one, 3 * one, e, (3 - k) * e]]
    base = [[e, k * e, one, zero], [-e, (1 - k) * e, one, one], [e, (k - 2) * e, one, 2 * one]]
    base += [[-e, (3 - k) * e, one, 3 * one]]
    top, bottom = np.moveaxis(np.array(surface), 2, 0), np.moveaxis(np.array(base), 2, 0)
    along = (1 - nu) * bottom[:, 2] + nu * bottom[:, 0] if bonded else bottom[:, 1]
    normal = (1 - nu) * bottom[:, 3] - (2 - nu) * bottom[:, 1]
    equations = np.stack([top[:, 0], top[:, 1], along, normal], axis=1)
    terms = np.linalg.solve(equations, np.eye(4)[:1].T[None])[:, :, 0]
    deflection = np.einsum("ki,ki->k", top[:, 3], terms) / k
    z = k * depth
    down, up = np.exp(-np.minimum(z, 700.0)), np.exp(-np.minimum(k - z, 700.0))
    return deflection, np.einsum("ik,ki->k", [down, z * down, up, (z - k) * up], terms)


@lru_cache(maxsize=64)
def layer_tables(poisson: float, depth: float, bonded: bool) -> np.ndarray:
    """Return the kernels of a layer on square grids; for arguments, see `transfer`.

    A field of pressures p has two scales. Forces at the nodes of a grid of spacing s, which distribute the
    pressures with quadratic B-splines, cause the smooth part of deflections and stresses, which is
    interpolated likewise; the rest is local: ``c p``. Both together are exact for waves much longer than s,
    and ``c`` is exact for a wave of length 2.5 s.

    Returns:
        (LEVELS, 2, 1 + NODES^2) for deflection and stress, on grids from fine to coarse: the local part c,
        and the kernel between nodes that are i rows and j columns apart, for 1 N. Deflections are in units of
        thickness / (E* s^2), and stresses in 1 / s^2.
    """
    values = transfer(_SAMPLES, poisson, depth, bonded)
    out = np.empty((LEVELS, 2, 1 + NODES**2))
    for level in range(LEVELS):
        spacing = FINEST * np.sqrt(2.0) ** level
        n = 32 * int(np.ceil(max(4.0, 1.5 + 0.25 / spacing)))  # a period of 8 thicknesses
        steps = 2 * np.pi * np.fft.fftfreq(n)
        half = steps[: n // 2 + 1]
        waves = np.hypot(steps[:, None], half)
        band = waves < _BAND
        hat = np.sinc(steps / (2 * np.pi)) ** 6
        for kind in range(2):
            local = np.interp(_BAND / spacing, _SAMPLES, values[kind])
            local *= kind == 0 or local > _LEAST_LOCAL
            smooth = band * (np.interp(waves / spacing, _SAMPLES, values[kind]) - local)
            kernel = np.fft.irfft2(smooth / (hat[:, None] * hat[: n // 2 + 1]), s=(n, n))
            out[level, kind, 0], out[level, kind, 1:] = local, kernel[:NODES, :NODES].ravel()
    return out
