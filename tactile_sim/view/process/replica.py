"""A copy of the simulation in the view's process. Instead of stepping, it receives the original's states."""

from __future__ import annotations

import dataclasses

import numpy as np

from tactile_sim.config import Settings
from tactile_sim.config.settings import switches, with_switches
from tactile_sim.control.user_forces import Press
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.taxel_forces import TaxelForces
from tactile_sim.view.process.shared_frame import update_record


def _press(record: np.ndarray) -> Press | None:
    """Return the `Press` in a record, or None if no user presses on a body."""
    force = record["press_force"]
    if not force.any():
        return None
    return Press(int(record["press_body"]), int(record["press_geom"]), record["press_point"], force, 0)


class Replica:
    """Computes poses, contacts, readings and feelers from a state to save time in the original simulation.

    It cannot compute readings that depend on earlier states. The original simulation sends these readings.
    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self.simulation = Simulation(settings)
        self._forces = TaxelForces(self.simulation)

    def complete(self, record: np.ndarray) -> None:
        """Compute the fields of a record that depend only on its state."""
        simulation = self.simulation
        engine = simulation.engine
        engine.set_state(record["state"])
        simulation.step_count, simulation.steps_since_reset = int(record["step"]), int(record["taken"])
        simulation.hands.press = _press(record)
        self._update_settings(record)
        snapshot = simulation.snapshot()
        if not record["has_readings"]:
            update_record(record, readings=self._readings(record, snapshot), valid=snapshot.valid)
        update_record(
            record,
            pad_readings=self._pad_readings(record, snapshot),
            positions=engine.body_positions,
            quaternions=engine.body_quaternions,
            unit=(simulation.functions.unit or "N").encode(),
            wrenches=snapshot.wrenches,
            contacts=snapshot.contacts,
            feelers=snapshot.feelers,
            controls=engine.ctrl,
        )

    def _pad_readings(self, record: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """Return what each pad reads (s,), as in `ViewFrame.pad_readings`."""
        skin, unit = self.simulation.skin, self.simulation.functions.unit
        channels = int(record["channels"])
        readings = record["readings"][: channels * len(skin.positions)].reshape(-1, channels)
        parts = [slice(pad.start, pad.stop) for pad in skin.pads]
        if unit not in ("", "N"):
            magnitudes = np.linalg.norm(readings, axis=1)
            return np.array([magnitudes[part].max(initial=0.0) for part in parts])
        # Pads with different units are shown as forces.
        forces = self._forces.on_bodies(snapshot, readings) if unit else readings
        return np.array([np.linalg.norm(forces[part].sum(axis=0)) for part in parts])

    def _update_settings(self, record: np.ndarray) -> None:
        touch, response = (record[field].item().decode() for field in ("touch_function", "response_function"))
        skin = self.simulation.settings.skin
        before = switches(skin.sensor)
        enabled = dict(zip(before, record["enabled"].tolist(), strict=True))
        if (touch, response, enabled) != (skin.touch_function, skin.response_function, before):
            sensor = with_switches(skin.sensor, enabled)
            skin = dataclasses.replace(skin, touch_function=touch, response_function=response, sensor=sensor)
            self.simulation.update(dataclasses.replace(self._settings, skin=skin))

    def _readings(self, record: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """Return a snapshot's readings (taxels, channels), computed with the original simulation's tare."""
        simulation, channels = self.simulation, self.simulation.functions.channels
        zero = record["zero"][: len(simulation.skin.positions) * channels].reshape(-1, channels)
        simulation.signal_chain.zero = zero if record["tared"] else None
        return snapshot.viewed
