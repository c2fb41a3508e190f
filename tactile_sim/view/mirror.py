"""A simulation in the view's process that never steps: it is put into each state that the real one tells."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from tactile_sim.config import Settings
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.view.channel import put

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""All that the forces of an instant follow from."""


def state_size(simulation: Simulation) -> int:
    """How many numbers a state has."""
    return mujoco.mj_stateSize(simulation.engine.model, STATE)


class Mirror:
    """Computes what is seen of a state, so that the physics need not: poses, contacts, readings, feelers.

    Stages of sensors that remember act on what is shown, at the pace of that; a tare is not known here.
    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self.simulation = Simulation(settings)

    def fill(self, record: np.ndarray) -> None:
        """Computes the other fields of a record, as in `tactile_sim.view.channel`, from its state."""
        simulation = self.simulation
        engine = simulation.engine
        mujoco.mj_setState(engine.model, engine.data, record["state"], STATE)
        simulation.step, simulation.taken = int(record["step"]), int(record["taken"])
        touch, response = (record[field].item().decode() for field in ("touch_function", "response_function"))
        skin = simulation.settings.skin
        if (touch, response) != (skin.touch_function, skin.response_function):
            skin = dataclasses.replace(skin, touch_function=touch, response_function=response)
            simulation.update(dataclasses.replace(self._settings, skin=skin))
        snapshot = simulation.observe()
        simulation.remember(snapshot, True)
        put(
            record,
            positions=engine.body_positions,
            quaternions=engine.body_quaternions,
            unit=TOUCH_FUNCTIONS[touch].unit.encode(),
            readings=snapshot.taxels32,
            wrenches=snapshot.wrenches,
            contacts=snapshot.contacts.values,
            feelers=snapshot.feelers,
            controls=engine.data.ctrl,
        )
