"""Topics for the state of the scene: time, frames, contacts, joints, and what the engine declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

import mujoco
import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from tactile_sim import _core
from tactile_sim.common.frames import to_xyzw
from tactile_sim.engines import Contacts, EngineTopic
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.msg import ContactWrenchArray
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import ONCE, Topic, filled, header
from tactile_sim.simulation import Simulation, Snapshot


def clock_topic(least: Callable[[], int] = lambda: 0) -> Topic:
    """Return ``/clock``, which publishes the simulation time."""
    template = cdr.template(Clock, {"clock": cdr.STAMP})
    return Topic("clock", Clock, "/clock", lambda now: template.fill(max(now.stamp, least())))


def state_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``contacts`` (all published contacts) and ``joint_states`` (scalar joints)."""
    # A flex has the id -1, which refers to the last entry.
    bodies, geoms = [*simulation.names.bodies, ""], [*simulation.names.geoms, ""]
    sensing = simulation.sensing.tolist()
    contact = {
        "body1": cdr.Lookup(Contacts.BODIES, bodies),
        "body2": cdr.Lookup(Contacts.BODIES + 1, bodies),
        "geom1": cdr.Lookup(Contacts.GEOMS, geoms),
        "geom2": cdr.Lookup(Contacts.GEOMS + 1, geoms),
        "geom1_id": cdr.IntColumn(Contacts.GEOMS),
        "geom2_id": cdr.IntColumn(Contacts.GEOMS + 1),
        "sensing1": cdr.Lookup(Contacts.BODIES, sensing),
        "sensing2": cdr.Lookup(Contacts.BODIES + 1, sensing),
        "position": cdr.Value(Contacts.POSITION),
        "normal": cdr.Value(Contacts.FRAME),
        "tangent1": cdr.Value(Contacts.FRAME + 3),
        "tangent2": cdr.Value(Contacts.FRAME + 6),
        "distance": cdr.Value(Contacts.DISTANCE),
        "wrench": cdr.Value(Contacts.WRENCH_WORLD),
        "contact_force": cdr.Value(Contacts.WRENCH),
        "relative_velocity": cdr.Value(Contacts.VELOCITY),
    }
    fields = {"header": header(simulation.settings.world_frame), "contacts": cdr.Repeat(contact)}
    yield filled(
        "contacts",
        ContactWrenchArray,
        "contacts",
        fields,
        lambda snapshot: {"keys": snapshot.contacts.ids, "values": snapshot.contacts.values},
    )

    joints = simulation.commander.joint_names
    parts = np.array([[0, len(joints), 2 * len(joints), len(joints)]], np.int32)
    fields = {
        "header": {"stamp": cdr.STAMP},
        "name": joints,
        "position": cdr.RowRange(0, 3),
        "velocity": cdr.RowRange(1, 3),
        "effort": cdr.RowRange(2, 3),
    }
    yield filled(
        "joint_states",
        JointState,
        "joint_states",
        fields,
        lambda snapshot: {"keys": parts, "points": np.concatenate(snapshot.joint_states).reshape(-1, 1)},
    )


def engine_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics that the engine's plug-in declares."""
    for topic in engine_plugin(simulation.settings.engine).topics(simulation.engine):
        yield _engine_topic(topic, simulation.settings.world_frame)


def _engine_topic(topic: EngineTopic, world: str) -> Topic:
    package, _, name = topic.type.split("/")
    message_type = getattr(import_module(f"{package}.msg"), name)
    types = message_type.get_fields_and_field_types()
    kind = types[topic.array]
    is_struct = not kind.startswith("sequence<")
    fields = {**topic.fields, topic.array: cdr.Value(0) if is_struct else cdr.Payload()}
    if "header" in types:
        frame = {"frame_id": world} if is_struct else {}
        fields["header"] = {"stamp": cdr.STAMP, **frame, **fields.get("header", {})}
    element = kind.removeprefix("sequence<").removesuffix(">")
    dtype = np.dtype(float if is_struct else {"float": "f4", "double": "f8"}.get(element, element))

    def parts(_: Snapshot) -> dict[str, np.ndarray]:
        values = np.ascontiguousarray(topic.read(), dtype)
        return {"values": values.reshape(1, -1)} if is_struct else {"data": values}

    return filled(topic.stream, message_type, topic.name, fields, parts)


def frame_topics(simulation: Simulation, bodies: Callable[[], np.ndarray | None]) -> Iterator[Topic]:
    """Yield ``/tf`` and ``/tf_static``, only ``/tf``, or nothing, depending on the key ``tf``.

    ``/tf`` contains the poses of moving bodies relative to their parent bodies in the model. ``/tf_static``
    contains the poses of bodies without joints and of sensor frames.
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
    """Return the ids of the moving bodies in ``/tf`` between each frame and the world, by frame."""
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
