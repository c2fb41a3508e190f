"""Give robots free bases, and lay them on the ground."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.config import Settings, configured_scene
from tactile_sim.config.skin import colliding_areas


def freed(settings: Settings) -> mujoco.MjSpec:
    """Return only the robots and objects of a scene, with free bases."""
    spec, model = configured_scene(settings)
    areas = np.zeros(model.nbody)
    np.add.at(areas, model.body_rootid, colliding_areas(model))
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.option.disableflags &= ~(
        mujoco.mjtDisableBit.mjDSBL_GRAVITY
        | mujoco.mjtDisableBit.mjDSBL_CONTACT
        | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    )
    for key in list(spec.keys):
        spec.delete(key)
    for geom in list(spec.worldbody.geoms):
        spec.delete(geom)
    joints = np.bincount(model.body_rootid[model.jnt_bodyid], minlength=model.nbody)
    bodies = [(body, body.id) for body in spec.worldbody.bodies]  # ids change
    for body, number in bodies:
        if (
            body.mocap or not areas[number] or (joints.any() and not joints[number])
        ):  # a fixture, such as a wall
            spec.delete(body)
            continue
        for joint in list(body.joints):
            spec.delete(joint)
        body.add_freejoint()
        if not model.body_mass[number]:
            body.mass, body.inertia, body.explicitinertial = 1e-3, [1e-6] * 3, True
    for body in spec.bodies:
        body.gravcomp = 0.0
    return spec


def lay_down(model: mujoco.MjModel, data: mujoco.MjData) -> list[int]:
    """Place the root bodies side by side, 1 mm above the ground, and return their ids."""
    mujoco.mj_kinematics(model, data)
    colliding = np.flatnonzero(
        (model.geom_bodyid != 0) & ((model.geom_contype | model.geom_conaffinity) != 0)
    )
    outlines = {
        g: data.geom_xpos[g] + _outline(model, g) @ data.geom_xmat[g].reshape(3, 3).T for g in colliding
    }
    at, roots = 0.0, sorted({int(model.body_rootid[model.geom_bodyid[g]]) for g in colliding})
    for root in roots:
        own = np.concatenate(
            [points for g, points in outlines.items() if model.body_rootid[model.geom_bodyid[g]] == root]
        )
        low, high = own.min(axis=0), own.max(axis=0)
        address = model.jnt_qposadr[model.body_jntadr[root]]
        data.qpos[address + 2] -= low[2] - 0.001
        if len(roots) > 1:
            data.qpos[address] += at - low[0]
            at += 2.0 * (high - low).max() + 0.5
    return roots


def _outline(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Return the vertices of a mesh or the corners of another geom's box (n, 3) in its frame [m]."""
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        return model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return model.geom_aabb[geom, :3] + corners * model.geom_aabb[geom, 3:]
