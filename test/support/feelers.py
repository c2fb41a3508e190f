"""Feelers at specified positions, and rotations of a whole scene."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.feelers import Placed

LENGTH = 0.1


def feelers_at(body: int, positions, normals, lengths=LENGTH) -> Placed:
    """Return feelers at positions (n, 3) along unit vectors (n, 3) or (3,) on a body, without an image."""
    positions = np.atleast_2d(np.asarray(positions, float))
    n = len(positions)
    return Placed(
        body,
        positions,
        np.broadcast_to(np.asarray(normals, float), (n, 3)).copy(),
        np.broadcast_to(np.asarray(lengths, float), n).copy(),
        np.zeros(n, np.uint16),
        np.zeros((n, 2)),
        np.arange(n, dtype=np.uint32),
        (),
        n,
        1,
        0.01,
    )


def load(world: str, asset: str = "", rest: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Load a scene and compute its initial poses."""
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{asset}</asset><worldbody>{world}</worldbody>{rest}</mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


def turned(data: mujoco.MjData, count: int = 4, far: float = 3.0) -> Iterator[None]:
    """Yield first with the original poses, then `count` times with the whole scene rotated and moved."""
    poses = (data.xpos, data.xmat), (data.geom_xpos, data.geom_xmat)
    first = [(positions.copy(), rotations.copy()) for positions, rotations in poses]
    rng = np.random.default_rng(0)
    yield
    for turn in Rotation.random(count, rng=rng):
        move = far * rng.normal(size=3)
        for (positions, rotations), (old_positions, old_rotations) in zip(poses, first, strict=True):
            positions[:] = turn.apply(old_positions) + move
            rotations[:] = (turn.as_matrix() @ old_rotations.reshape(-1, 3, 3)).reshape(-1, 9)
        yield
    for (positions, rotations), (old_positions, old_rotations) in zip(poses, first, strict=True):
        positions[:], rotations[:] = old_positions, old_rotations


def directions(count: int) -> np.ndarray:
    """Return random unit vectors (count, 3)."""
    vectors = np.random.default_rng(1).normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def numbers(array) -> str:
    """Format an array as an MJCF attribute."""
    return " ".join(f"{x:.9g}" for x in np.ravel(array))


def mesh(name: str, vertices, faces) -> str:
    """Return the MJCF of a mesh asset."""
    return f'<mesh name="{name}" vertex="{numbers(vertices)}" face="{numbers(faces)}"/>'
