"""Bridge to ``tactile_msgs`` of Bielefeld University's tactile_toolbox: states and contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tactile_msgs.msg import TactileContacts, TactileState

from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.taxel_forces import TaxelForces
from tactile_sim.simulation.touched import centers_of_touch


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``tactile_states`` and ``tactile_contact_states`` in the format of tactile_toolbox's nodes.

    ``tactile_states`` has one channel for each pad, with the pressing force on each taxel [N].
    ``tactile_contact_states`` has one contact for each pad whose body is touched.
    """
    yield Topic("tactile", TactileState, "tactile_states", _states(simulation))
    frames = tuple(simulation.frames[body] for body in simulation.skin.pad_bodies)
    yield Topic(
        "contacts", TactileContacts, "tactile_contact_states", _contacts(simulation, frames), frames=frames
    )


def _states(simulation: Simulation):
    forces, parts = TaxelForces(simulation), simulation.skin.pads
    names = [part.name for part in parts]

    def make(snapshot: Snapshot) -> bytes:
        pressing = forces.pressing(snapshot).astype(np.float32)
        sensors = [
            {"name": name, "values": pressing[part.start : part.stop]}
            for name, part in zip(names, parts, strict=True)
        ]
        header = {"stamp": snapshot.stamp, "frame_id": simulation.settings.world_frame}
        return cdr.encode(TactileState, {"header": header, "sensors": sensors})

    return make


def _contacts(simulation: Simulation, frames: Sequence[str]):
    engine, bodies = simulation.engine, simulation.skin.pad_bodies
    contact = {
        "header": {"stamp": cdr.STAMP, "frame_id": cdr.Lookup(0, frames)},
        "name": cdr.Lookup(0, [pad.name for pad in simulation.skin.pads]),
        "position": cdr.Value(0),
        "normal": cdr.Value(3),
        "wrench": cdr.Value(6),
    }
    template = cdr.template(TactileContacts, {"contacts": cdr.Repeat(contact)})

    def make(snapshot: Snapshot) -> bytes:
        weights, centers = centers_of_touch(
            snapshot.all_contacts, engine.body_positions, engine.body_rotations, bodies
        )
        touched = np.flatnonzero(weights)
        values = np.hstack([centers[touched], snapshot.wrenches[touched]])
        return template.fill(snapshot.stamp, touched.astype(np.int32)[:, None], values)

    return make
