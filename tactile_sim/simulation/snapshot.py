"""Snapshots of a simulation's state and the quantities derived from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.common.exclusive import Seen, computed, exclusive
from tactile_sim.common.schema import known
from tactile_sim.engines import Contacts
from tactile_sim.simulation.taxel_forces import TaxelForces
from tactile_sim.skin import Pad
from tactile_sim.skin.checks import require_contacts
from tactile_sim.skin.skin import Reader
from tactile_sim.skin.state import CONTACT_PARTS, ContactQuantities, ContactState, contact_quantities
from tactile_sim.skin.touch_functions import TouchFunction

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation


class Snapshot(Seen):
    """State of a simulation and derived quantities, which are computed when they are first read.

    After the state has changed, values that were already read stay valid; reading others raises CommandError.
    """

    def __init__(self, simulation: Simulation, stored: bool = False):
        """Create a snapshot, which reads from ``simulation`` when a quantity is requested.

        Args:
            simulation: The simulation to read from.
            stored: Whether the signal chain stores the reading of this snapshot.
        """
        super().__init__(simulation)
        self.simulation = simulation
        self._stored, self._step = stored, simulation.step_count

    @property
    def stamp(self) -> int:
        """Simulation time of this snapshot [ns]."""
        return round(self._step * self.simulation.engine.timestep * 1e9)

    @computed
    def all_contacts(self) -> Contacts:
        """All contacts with a nonzero force, including a user's press, with bodies in the engine's order."""
        engine, hands = self.simulation.engine, self.simulation.interaction.hands
        contacts = engine.contacts()
        if hands.press:
            return hands.with_press(contacts, engine.body_positions, engine.body_rotations)
        return contacts

    @computed
    def skin_contacts(self) -> Contacts:
        """Contacts from which readings are computed.

        These are `all_contacts`, plus a copy of each contact on a flex with pads. The copy is mapped to the
        rest shape of the flex, where its taxels are defined. They are checked, because an engine of another
        package could report invalid ids.
        """
        engine, flexes = self.simulation.engine, self.simulation.flex_pads
        contacts = flexes.on_skin(self.all_contacts, engine) if flexes else self.all_contacts
        require_contacts(self.simulation.skin, contacts, engine.body_positions, engine.body_rotations)
        return contacts

    def read(self, reader: Reader) -> np.ndarray:
        """Return the readings (taxels, channels) that a reader of the skin computes from `skin_contacts`."""
        simulation, engine = self.simulation, self.simulation.engine
        source = getattr(engine, "contact_source", None)
        if source and reader.native and not (simulation.interaction.hands.press or simulation.flex_pads):
            return reader.from_data(*source)
        return reader(self.skin_contacts, engine.body_positions, engine.body_rotations)

    @computed
    def contacts(self) -> Contacts:
        """Published contacts: all contacts, or only those on skin, depending on the key ``contacts``.

        If only contacts on skin are published, and only one body of a contact has skin, that body is second.
        """
        if self.simulation.settings.contacts == "all":
            return self.all_contacts
        return self.all_contacts.touching(self.simulation.sensing)

    @exclusive
    def ideal_readings(
        self, touch_function: str | TouchFunction | None = None, dtype: type = np.float64
    ) -> np.ndarray:
        """Return the ideal readings of this step, without sampling and signal chain.

        Args:
            touch_function: Touch function for all pads; None uses the function of each pad.
            dtype: Type of the readings.

        Returns:
            (taxels, channels) readings. Channels that a pad does not have are 0.
        """
        return self.simulation.functions.ideal_readings(self, touch_function, dtype)

    @computed
    def truth(self) -> np.ndarray:
        """(taxels, channels) readings after sampling and before the signal chain."""
        if stepper := self.simulation.stepper():
            return stepper.truth()
        ideal, sampling = self.simulation.functions.ideal_readings(self, None), self.simulation.sampling
        return sampling.value(ideal) if sampling else ideal

    @computed
    def readings(self) -> np.ndarray:
        """(taxels, channels) readings after the signal chain, as they are published."""
        return self.truth if self.simulation.signal_chain.idle else self._output[0]

    @computed
    def valid(self) -> np.ndarray:
        """(taxels,) uint8, 0 where a reading is invalid; empty if all are valid."""
        return np.empty(0, np.uint8) if self.simulation.signal_chain.idle else self._output[1]

    @computed
    def _output(self) -> tuple[np.ndarray, np.ndarray]:
        """Readings (taxels, channels) after the signal chain, and their validity as in `valid`."""
        simulation, chain = self.simulation, self.simulation.signal_chain
        if stepper := simulation.stepper():
            return stepper.output(simulation.steps_since_reset, self._stored)
        output = chain.read if self._stored else chain.peek
        readings, valid = output(simulation.steps_since_reset, self.truth), chain.valid
        return readings, valid if b"\0" in valid.tobytes() else valid[:0]

    def reading(self, pad: str | Pad) -> np.ndarray:
        """Return the readings (n, channels) of one pad after the signal chain.

        Args:
            pad: A pad in ``simulation.skin.pads``, or its name.

        Raises:
            CommandError: There is no such pad.
        """
        simulation = self.simulation
        names = [own.name for own in simulation.skin.pads]
        name = pad.name if isinstance(pad, Pad) else pad
        index = names.index(known("reading: no pad", name, names))
        channels = simulation.functions.pad_channels[index]
        return self.readings[simulation.skin.offsets[index] : simulation.skin.offsets[index + 1], :channels]

    @computed
    def readings32(self) -> np.ndarray:
        """(taxels, channels) `readings` as float32, the type used in messages."""
        if self.simulation.signal_chain.idle and not self.simulation.sampling:
            return self.ideal_readings(dtype=np.float32)
        return self.readings.astype(np.float32)

    @property
    def viewed(self) -> np.ndarray:
        """(taxels, channels) `readings` of either type, or forces [N] if pads have different units."""
        simulation = self.simulation
        if simulation.functions.unit or not len(simulation.skin.positions):
            return self.readings32 if simulation.signal_chain.idle else self.readings
        return TaxelForces(simulation).on_bodies(self).astype(np.float32)

    @computed
    def forces_world(self) -> np.ndarray:
        """(taxels, 3) ideal force on each taxel in the world frame, without the signal chain [N]."""
        return self.ideal_readings("force_vector_global")

    @computed
    def taxel_positions_world(self) -> np.ndarray:
        """(taxels, 3) current position of each taxel in the world frame [m]."""
        engine, flexes = self.simulation.engine, self.simulation.flex_pads
        out = self.simulation.skin.world(engine.body_positions, engine.body_rotations)
        if flexes:
            flexes.move(out, engine)
        return out

    @computed
    def feelers(self) -> np.ndarray:
        """(feelers,) uncovered length of each feeler [m]; its full length if nothing covers it."""
        engine = self.simulation.engine
        return self.simulation.feelers.free_lengths(
            engine.body_positions, engine.body_rotations, engine.geom_positions, engine.geom_rotations
        )

    @computed
    def feeler_segments(self) -> tuple[np.ndarray, np.ndarray]:
        """Root and tip of each feeler in the world (feelers, 2, 3) [m], and covered fractions (feelers,)."""
        engine, feelers = self.simulation.engine, self.simulation.feelers
        starts, directions = feelers.world(engine.body_positions, engine.body_rotations)
        ends = starts + feelers.lengths[:, None] * directions
        return np.stack([starts, ends], axis=1), 1.0 - self.feelers / feelers.lengths

    @computed
    def wrenches(self) -> np.ndarray:
        """(pads, 6) net wrench on each pad's body about the body's origin, in the body frame [N, N m].

        For a pad on a flex, only contacts with the flex count; the pad's body is the one that carries it.
        """
        engine, flexes = self.simulation.engine, self.simulation.flex_pads
        out = self.simulation.skin.body_wrenches(
            self.all_contacts, engine.body_positions, engine.body_rotations
        )
        if flexes:
            out[flexes.pads] = flexes.wrenches(self.all_contacts, engine)
        return out

    @computed
    def contact_quantities(self) -> ContactQuantities:
        """Center of pressure, area, friction utilization and other quantities, with one row per pad."""
        skin = self.simulation.skin
        parts = self.ideal_readings(CONTACT_PARTS)
        felt = contact_quantities(parts, skin.surface_positions, skin.areas, skin.offsets)
        self.simulation.pad_states.warn_of_excess(felt.friction_utilization)
        return felt

    @computed
    def contact_state(self) -> ContactState:
        """Contact states of the pads in ``skin.state``, in the order of ``simulation.pad_states.pads``."""
        return self.simulation.pad_states.peek(self)

    @computed
    def pad_table(self) -> tuple[np.ndarray, np.ndarray]:
        """Flags (k, 2) and values (k, 19) of the k pads that have a contact state, as in their messages.

        The columns of the flags are contact_raw and contact. `STATE_COLUMNS` names those of the values.
        """
        return self.simulation.pad_states.table(self)

    @computed
    def outside(self) -> tuple[np.ndarray, np.ndarray]:
        """Contact loads that no taxel senses because they are outside the pads.

        The first array has the number of these loads on each of the b bodies with skin (b,). The second has
        their net force in the body frame (b, 3) [N]. Bodies are in the order of ``skin.body_ids``.
        """
        engine, skin = self.simulation.engine, self.simulation.skin
        poses = engine.body_positions, engine.body_rotations
        numbers, forces = np.zeros(len(skin.body_ids), np.int64), np.zeros((len(skin.body_ids), 3))
        for response, rows in self.simulation.functions.by_response():
            bodies = np.unique(skin._pad_slots[skin.pad_index[rows]])
            number, force = skin.outside(self.skin_contacts, *poses, response)
            numbers[bodies], forces[bodies] = number[bodies], force[bodies]
        return numbers, forces

    @computed
    def sensor_data(self) -> np.ndarray:
        """(nsensordata,) values of all sensors of the scene in MuJoCo's layout."""
        return self.simulation.engine.sensor_data.copy()

    @computed
    def joint_states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and efforts (joints,), in the order of ``commander.joint_names``.

        Units are rad, rad/s and N m for hinges, and m, m/s and N for slide joints.
        """
        engine, commander = self.simulation.engine, self.simulation.commander
        dofs = commander.dofs
        return engine.qpos[commander.qpos], engine.qvel[dofs], engine.joint_efforts[dofs]
