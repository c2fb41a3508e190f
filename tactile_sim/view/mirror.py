"""A simulation in the view's process that never steps: it is put into each state that the real one tells."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from tactile_sim.config import Settings
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.snapshot import Snapshot
from tactile_sim.view.channel import put

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""All that the forces of an instant follow from."""


def state_size(simulation: Simulation) -> int:
    """How many numbers a state has."""
    return mujoco.mj_stateSize(simulation.engine.model, STATE) + simulation.engine.desired.size


def read_state(simulation: Simulation, state: np.ndarray) -> None:
    """Reads what is told of a simulation's instant, (state_size,): MuJoCo's state, and what is desired."""
    engine = simulation.engine
    own = state[: len(state) - engine.desired.size]
    mujoco.mj_getState(engine.model, engine.data, own, STATE)
    state[len(own) :] = engine.desired.ravel()


def set_state(simulation: Simulation, state: np.ndarray) -> None:
    """Puts a simulation into what `read_state` read of another one of the same scene."""
    engine = simulation.engine
    own = state[: len(state) - engine.desired.size]
    mujoco.mj_setState(engine.model, engine.data, own, STATE)
    engine.desired[:] = state[len(own) :].reshape(engine.desired.shape)


class Mirror:
    """Computes what is seen of a state, so that the physics need not: poses, contacts, readings, feelers.

    Readings that depend on instants before are told, and not found here.
    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self.simulation = Simulation(settings)

    def fill(self, record: np.ndarray) -> None:
        """Computes the other fields of a record, as in `tactile_sim.view.channel`, from its state."""
        simulation = self.simulation
        engine = simulation.engine
        set_state(simulation, record["state"])
        simulation.step_count, simulation.steps_since_reset = int(record["step"]), int(record["taken"])
        touch, response = (record[field].item().decode() for field in ("touch_function", "response_function"))
        skin = simulation.settings.skin
        if (touch, response) != (skin.touch_function, skin.response_function):
            skin = dataclasses.replace(skin, touch_function=touch, response_function=response)
            simulation.update(dataclasses.replace(self._settings, skin=skin))
        snapshot = simulation.snapshot()
        if not record["told"]:
            put(record, readings=self._readings(record, snapshot))
        put(
            record,
            positions=engine.body_positions,
            quaternions=engine.body_quaternions,
            unit=TOUCH_FUNCTIONS[touch].unit.encode(),
            wrenches=snapshot.wrenches,
            contacts=snapshot.contacts.values,
            feelers=snapshot.feelers,
            controls=engine.data.ctrl,
        )

    def _readings(self, record: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """(taxels, channels) of a snapshot, with the tare of the real one."""
        function = TOUCH_FUNCTIONS[self.simulation.settings.skin.touch_function]
        zero = record["zero"][: len(self.simulation.skin.positions) * function.channels]
        self.simulation.signal_chain.zero = zero.reshape(-1, function.channels) if record["tared"] else None
        return snapshot.taxels32
