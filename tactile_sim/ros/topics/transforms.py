"""Topics for frames: ``/tf`` and ``/tf_static``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mujoco
import numpy as np
from tf2_msgs.msg import TFMessage

from tactile_sim import _core
from tactile_sim.common.frames import to_xyzw
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import ONCE, Topic, header
from tactile_sim.simulation import Simulation, Snapshot


def topics(simulation: Simulation, bodies: Callable[[], np.ndarray | None]) -> Iterator[Topic]:
    """Yield ``/tf`` and ``/tf_static``, only ``/tf``, or nothing, depending on the key ``tf``.

    ``/tf`` contains the poses of moving bodies relative to their parent bodies in the model. ``/tf_static``
    contains the poses of bodies without joints and of sensor frames.

    Args:
        simulation: Simulation to which all sensor frames have been added.
        bodies: Returns the ids of the bodies in the next message on ``/tf``; None for all moving bodies.
    """
    engine, sensors, choice = simulation.engine, simulation.sensor_frames, simulation.settings.tf
    if choice == "off":
        return
    model = engine.model
    moving, fixed = _moving_and_fixed(simulation)
    transform = {
        "header": header(cdr.Lookup(0, simulation.frames)),
        "child_frame_id": cdr.Lookup(1, [*simulation.frames, *sensors.names]),
        "transform": cdr.Value(0),
    }
    template = cdr.template(TFMessage, {"transforms": cdr.Repeat(transform)})

    def moving_frames(snapshot: Snapshot) -> bytes:
        chosen = moving if (wanted := bodies()) is None else wanted
        poses = _core.relative_poses(
            engine.body_positions,
            engine.body_quaternions,
            engine.body_rotations,
            chosen,
            model.body_parentid,
        )
        return template.fill(snapshot.stamp, _parents_and_bodies(model, chosen), poses)

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


def chains(simulation: Simulation) -> dict[str, frozenset[int]]:
    """Return the ids of the moving bodies in ``/tf`` between each frame and the world, by frame.

    Args:
        simulation: Simulation to which all sensor frames have been added.
    """
    moving, parents = (
        frozenset(_moving_and_fixed(simulation)[0].tolist()),
        simulation.engine.model.body_parentid,
    )
    of_body = [frozenset[int]()]
    for body in range(1, len(parents)):
        of_body.append(of_body[parents[body]] | moving & {body})
    sensors = simulation.sensor_frames
    return dict(zip(simulation.frames, of_body, strict=True)) | {
        name: of_body[body] for name, body in zip(sensors.names, sensors.bodies, strict=True)
    }


def _moving_and_fixed(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids (int32) of the bodies in ``/tf`` and in ``/tf_static``."""
    model = simulation.engine.model
    objects = simulation.settings.tf == "objects"
    bodies = simulation.engine.free_bodies if objects else np.arange(1, model.nbody, dtype=np.int32)
    fixed = (model.body_jntnum[bodies] == 0) & (model.body_mocapid[bodies] < 0)
    return bodies[~fixed], bodies[fixed]


def _parents_and_bodies(model: mujoco.MjModel, bodies: np.ndarray) -> np.ndarray:
    """Return the ids (n, 2) int32 of each body's parent and of the body itself."""
    return np.stack([model.body_parentid[bodies], bodies], axis=1).astype(np.int32)
