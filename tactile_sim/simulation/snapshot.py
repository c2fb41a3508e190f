"""The state of a simulation at one time, with everything derived from it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.engines import Contacts
from tactile_sim.skin.loads import TouchFunction
from tactile_sim.skin.state import CONTACT_PARTS, ContactQuantities, ContactState, contact_quantities

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation


class Snapshot:
    """Data of one state of a simulation, computed on request. Valid until the next step."""

    def __init__(self, simulation: Simulation, stored: bool = False):
        """Look at the present state. stored: whether the signal chain stores its reading."""
        self.simulation = simulation
        self._stored = stored
        self.stamp = simulation.stamp
        """[ns]"""

    @cached_property
    def all_contacts(self) -> Contacts:
        """Every contact with a nonzero force, its bodies in the engine's order, and the press of a user."""
        engine = self.simulation.engine
        contacts, poses = engine.contacts(), (engine.body_positions, engine.body_rotations)
        return self.simulation.hands.with_press(contacts, *poses)

    @cached_property
    def contacts(self) -> Contacts:
        """The published contacts: all, or those that touch a skin, with a single skin as the second body."""
        if self.simulation.settings.contacts == "all":
            return self.all_contacts
        return self.all_contacts.touching(self.simulation.sensing)

    def sense(
        self, touch_function: str | TouchFunction | None = None, dtype: type = np.float64
    ) -> np.ndarray:
        """(taxels, channels) readings of this very step; by default with the configured touch function."""
        engine, skin = self.simulation.engine, self.simulation.settings.skin
        return self.simulation.skin.feel(
            self.all_contacts, engine.body_positions, engine.body_rotations,
            touch_function or skin.touch_function, skin.response_function, dtype,
        )  # fmt: skip

    @cached_property
    def truth(self) -> np.ndarray:
        """(taxels, channels) what the skin feels, sampled: before the stages of its sensors."""
        sampling = self.simulation.sampling
        return sampling.value(self.sense()) if sampling else self.sense()

    @cached_property
    def taxels(self) -> np.ndarray:
        """(taxels, channels) readings as they are published: what the sensors make of the truth."""
        chain = self.simulation.signal_chain
        output = chain.read if self._stored else chain.peek
        return output(self.simulation.steps_since_reset, self.truth)

    @cached_property
    def taxels32(self) -> np.ndarray:
        """(taxels, channels) the same as float32, as they go on the wire."""
        if self.simulation.signal_chain.idle and not self.simulation.sampling:
            return self.sense(dtype=np.float32)
        return self.taxels.astype(np.float32)

    @cached_property
    def forces_world(self) -> np.ndarray:
        """(taxels, 3) forces in the world frame [N]."""
        return self.sense("force_vector_global")

    @cached_property
    def taxel_positions_world(self) -> np.ndarray:
        """(taxels, 3) in the world [m]."""
        engine = self.simulation.engine
        return self.simulation.skin.world(engine.body_positions, engine.body_rotations)

    @property
    def cloud(self) -> tuple[np.ndarray, np.ndarray]:
        """(taxels, 3) positions [m] and forces [N] in the world, float32 as they go on the wire."""
        engine = self.simulation.engine
        positions = self.simulation.skin.world(engine.body_positions, engine.body_rotations, np.float32)
        return positions, self.sense("force_vector_global", np.float32)

    @cached_property
    def feelers(self) -> np.ndarray:
        """(feelers,) how much of each is free [m]."""
        return self.simulation.feelers.read(self.simulation.engine.data)

    @property
    def hairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends (feelers, 2, 3) in the world [m], and how far (feelers,) each is covered, 0 to 1."""
        engine, feelers = self.simulation.engine, self.simulation.feelers
        starts, directions = feelers.world(engine.body_positions, engine.body_rotations)
        ends = starts + feelers.lengths[:, None] * directions
        return np.stack([starts, ends], axis=1), 1.0 - self.feelers / feelers.lengths

    @cached_property
    def wrenches(self) -> np.ndarray:
        """(pads, 6) net wrench on the body of each pad about its origin, in its frame [N, N m]."""
        engine = self.simulation.engine
        return self.simulation.skin.body_wrenches(
            self.all_contacts, engine.body_positions, engine.body_rotations
        )

    @cached_property
    def contact_quantities(self) -> ContactQuantities:
        """Contact quantities of each pad (p,): center of pressure, area, friction utilization and others."""
        skin = self.simulation.skin
        parts = self.sense(CONTACT_PARTS)
        return contact_quantities(parts, skin.surface_positions, skin.areas, skin.offsets)

    @cached_property
    def contact_state(self) -> ContactState:
        """Contact of the pads that ``skin.state`` names, in the order of ``simulation.pad_states.pads``."""
        return self.simulation.pad_states.peek(self)

    @cached_property
    def pad_table(self) -> tuple[np.ndarray, np.ndarray]:
        """Flags and values of the pads with a state, see `PadStates.table`."""
        return self.simulation.pad_states.table(self)

    @cached_property
    def outside(self) -> tuple[np.ndarray, np.ndarray]:
        """Number (b,) and net force (b, 3) [N] of the loads that no taxel takes, as `Skin.outside`."""
        engine, response = self.simulation.engine, self.simulation.settings.skin.response_function
        return self.simulation.skin.outside(
            self.all_contacts, engine.body_positions, engine.body_rotations, response
        )

    @property
    def sensor_data(self) -> np.ndarray:
        """(nsensordata,) what all sensors of the scene measure, as MuJoCo lays it out."""
        return self.simulation.engine.sensor_data

    @cached_property
    def joint_states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and efforts of the hinge and slide joints, as ``commander.joint_names``."""
        data, commander = self.simulation.engine.data, self.simulation.commander
        effort = data.qfrc_actuator[commander.dofs] + data.qfrc_applied[commander.dofs]
        return data.qpos[commander.qpos], data.qvel[commander.dofs], effort
