"""Measure the largest change of a taxel's reading while a body slides over skin, by response function.

Run as ``python bench/continuity.py``. A body of 1 kg rests on a plate with taxels every 4 mm. Its contacts
and its geom are shifted over the plate in steps of a tenth of the spacing. The change of each reading between
two steps is divided by the total load.
"""

from __future__ import annotations

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import Simulation
from tactile_sim.skin import RESPONSE_FUNCTIONS, Loads

SPACING, STEPS = 0.004, 60
BODIES = {
    "box, 40 mm": 'type="box" size=".02 .02 .01"',
    "the same turned by 30°": 'type="box" size=".02 .02 .01" euler="0 0 30"',
    "upright cylinder, 40 mm": 'type="cylinder" size=".02 .01"',
}


def main() -> None:
    """Measure all bodies and print a table."""
    table = Table(title="greatest change of a reading per tenth of a spacing, % of the load")
    table.add_column("body")
    for response in RESPONSE_FUNCTIONS:
        table.add_column(response, justify="right")
    for name, geom in BODIES.items():
        simulation = at_rest(geom)
        changes = (greatest_change(simulation, response) for response in RESPONSE_FUNCTIONS)
        table.add_row(name, *(f"{change * 100:.1f}" for change in changes))
    Console().print(table)


def at_rest(geom: str) -> Simulation:
    """Return a simulation in which a geom with the given MJCF attributes has come to rest on the plate."""
    spec = mujoco.MjSpec.from_string(f"""<mujoco><option cone="elliptic"/><worldbody>
        <body name="plate" pos="0 0 -.01"><geom type="box" size=".06 .06 .01"/></body>
        <body pos="0 0 .01"><freejoint/><geom {geom} mass="1"/></body></worldbody></mujoco>""")
    simulation = Simulation(spec, {"skin": {"scales": {"plate": SPACING}}})
    simulation.step(800)
    return simulation


def greatest_change(simulation: Simulation, response: str) -> float:
    """Return the largest change of a reading between two steps, divided by the total load."""
    engine, skin = simulation.engine, simulation.skin
    engine.forward()
    loads = skin.loads(engine.contacts(), engine.body_positions, engine.body_rotations)
    readings = []
    for step in range(STEPS):
        moved = Loads(loads.table.copy())
        for place in (moved.point, moved.other_position):
            place[:, :2] += step * 0.1 * SPACING * np.array([0.8, 0.6])
        readings.append(skin.readings_from_loads(moved, "normal", response)[:, 0])
    return float(np.abs(np.diff(readings, axis=0)).max() / np.sum(readings[0]))


if __name__ == "__main__":
    main()
