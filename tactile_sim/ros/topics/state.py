"""Topics for the state of the scene: ``contacts`` and ``joint_states``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sensor_msgs.msg import JointState

from tactile_sim.engines import Contacts
from tactile_sim.msg import ContactWrenchArray
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header
from tactile_sim.simulation import Simulation


def topics(simulation: Simulation) -> Iterator[Topic]:
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
