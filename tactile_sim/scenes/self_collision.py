"""Find links that overlap in the initial pose, and exclude collisions between links of a robot."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import mujoco
import numpy as np

from tactile_sim.common.names import Names
from tactile_sim.common.text import counted
from tactile_sim.scenes.drives import SCALAR

_LOG = logging.getLogger("tactile_sim.scenes")
DEEP = 0.005
"""Depth above which an overlap in the initial pose is logged as a warning [m]."""


def limit_self_collision(
    spec: mujoco.MjSpec, model: mujoco.MjModel, mode: str, path: Path, one_robot: bool = False
) -> None:
    """Exclude collisions between bodies of the same robot.

    A robot is a child of the world with all its descendants. Pairs of geoms in ``<contact>`` of an MJCF are
    not affected.
    """
    if mode in ("all", "auto"):
        return
    if mode == "off":
        pairs = set(combinations((np.flatnonzero(model.body_geomnum[1:]) + 1).tolist(), 2))
    else:
        pairs = _overlapping(model)
    root = model.body_rootid
    pairs = {(first, second) for first, second in pairs if one_robot or root[first] == root[second]}
    names, elements = Names(model).bodies, {body.id: body for body in spec.bodies}
    for pair in sorted(pairs):
        for body in set(pair) - {0}:
            elements[body].name = names[body]
        spec.add_exclude(bodyname1=names[pair[0]], bodyname2=names[pair[1]])
    if pairs and mode == "apart":
        first = " and ".join(repr(names[body]) for body in min(pairs))
        _LOG.info(
            "%s: %d pairs of links overlap in the initial pose and do not collide, such as %s",
            path, len(pairs), first,
        )  # fmt: skip


def overlap_warnings(model: mujoco.MjModel, names: Names) -> Iterator[str]:
    """Yield a warning if links of a robot overlap deeply in the initial pose, and one for other bodies."""
    depths = depths_of_overlaps(model, model.qpos0)
    deep = {pair: depth for pair, depth in depths.items() if depth > DEEP}
    own = {pair for pair in deep if pair[0] and model.body_rootid[pair[0]] == model.body_rootid[pair[1]]}
    option = "scene_options: {self_collision: apart} excludes this contact if they are links of a robot"
    for pairs, remedy in ((own, option), (deep.keys() - own, "move one of them")):
        if not pairs:
            continue
        first, second = pair = max(pairs, key=deep.__getitem__)
        more = f" (and {counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
        yield (
            f"bodies {names.bodies[first]!r} and {names.bodies[second]!r} overlap by"
            f" {deep[pair] * 1e3:.1f} mm in the initial pose and push each other apart{more}; {remedy}"
        )


def depths_of_overlaps(model: mujoco.MjModel, pose: np.ndarray) -> dict[tuple[int, int], float]:
    """Return the depth of the deepest contact [m] of each pair of bodies that overlap, by body ids.

    Args:
        model: The compiled scene.
        pose: Joint positions (nq,).
    """
    data, depths = mujoco.MjData(model), dict[tuple[int, int], float]()
    data.qpos[:] = pose
    mujoco.mj_fwdPosition(model, data)
    between_geoms = (data.contact.geom >= 0).all(axis=1)  # rather than with a flex
    found = between_geoms & (data.contact.dist < 0.0)
    bodies = np.sort(model.geom_bodyid[data.contact.geom[found]], axis=1)
    moving = (model.body_weldid[bodies] != 0).any(axis=1)
    for (first, second), depth in zip(
        bodies[moving].tolist(), -data.contact.dist[found][moving], strict=True
    ):
        depths[first, second] = max(depths.get((first, second), 0.0), float(depth))
    return depths


def _overlapping(model: mujoco.MjModel) -> set[tuple[int, int]]:
    """Return the ids of all pairs of bodies that overlap in the initial pose.

    If that is beyond the range of joints, their servos go to the nearer end, so bodies that overlap there are
    included.
    """
    limited = np.flatnonzero(model.jnt_limited.astype(bool) & np.isin(model.jnt_type, SCALAR))
    addresses = model.jnt_qposadr[limited]
    within = model.qpos0.copy()
    within[addresses] = np.clip(within[addresses], *model.jnt_range[limited].T)
    return {pair for pose in (model.qpos0, within) for pair in depths_of_overlaps(model, pose)}
