"""Vector operations for use in kernels.

Arguments are arrays (3,) or tuples of three. Results are tuples, which need no memory allocation.
"""

from __future__ import annotations

from tactile_sim.compilation import kernel


@kernel(counted=False)
def dot(a, b):
    """Return the scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(counted=False)
def cross(a, b):
    """Return the vector product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel(counted=False)
def plus(a, s, b):
    """Return the vector a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@kernel(counted=False)
def along(axes, a):
    """Return the components of a vector along three axes, which are the rows of ``axes``."""
    return dot(axes[0], a), dot(axes[1], a), dot(axes[2], a)
