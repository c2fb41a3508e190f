"""Topics for frames: ``/tf`` and ``/tf_static``."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from tf2_msgs.msg import TFMessage

from tactile_sim import _core
from tactile_sim.frames import to_xyzw
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import ONCE, Topic, header
from tactile_sim.simulation import Simulation, Snapshot


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``/tf`` and ``/tf_static``, only ``/tf``, or nothing, depending on the key ``tf``.

    ``/tf`` contains the poses of moving bodies relative to their parent bodies in the model. ``/tf_static``
    contains the poses of bodies without joints and of sensor frames.

    Args:
        simulation: Simulation to which all sensor frames have been added.
    """
    engine, sensors, choice = simulation.engine, simulation.sensor_frames, simulation.settings.tf
    if choice == "off":
        return
    model = engine.model
    bodies = engine.free_bodies if choice == "objects" else np.arange(1, model.nbody)
    fixed = (model.body_jntnum[bodies] == 0) & (model.body_mocapid[bodies] < 0)
    moving, fixed = bodies[~fixed], bodies[fixed]
    pairs = _parents_and_bodies(model, moving)
    transform = {
        "header": header(cdr.Lookup(0, simulation.frames)),
        "child_frame_id": cdr.Lookup(1, [*simulation.frames, *sensors.names]),
        "transform": cdr.Value(0),
    }
    template = cdr.template(TFMessage, {"transforms": cdr.Repeat(transform)})

    def moving_frames(snapshot: Snapshot) -> bytes:
        poses = _core.relative_poses(
            engine.body_positions,
            engine.body_quaternions,
            engine.body_rotations,
            moving,
            model.body_parentid,
        )
        return template.fill(snapshot.stamp, pairs, poses)

    def fixed_frames(snapshot: Snapshot) -> bytes:
        ids = model.nbody + np.arange(len(sensors.names))
        frames = np.concatenate([_parents_and_bodies(model, fixed), np.stack([sensors.bodies, ids], axis=1)])
        positions = np.concatenate([model.body_pos[fixed], *[[p] for p in sensors.positions]])
        quaternions = np.concatenate([model.body_quat[fixed], *[[q] for q in sensors.quaternions]])
        poses = np.hstack([positions, to_xyzw(quaternions)])
        return template.fill(snapshot.stamp, frames.astype(np.int32), poses)

    yield Topic("tf", TFMessage, "/tf", moving_frames)
    if choice == "all":
        yield Topic(ONCE, TFMessage, "/tf_static", fixed_frames)


def _parents_and_bodies(model: mujoco.MjModel, bodies: np.ndarray) -> np.ndarray:
    """Return the ids (n, 2) int32 of each body's parent and of the body itself."""
    return np.stack([model.body_parentid[bodies], bodies], axis=1).astype(np.int32)
