"""What contact sensors cost on ``hand``: a step with and without them, and reading one, in 1 to 1,024 worlds.

Run as ``python bench/sensors.py``. Times on one machine: use the ratios. A step is that of one world.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import scenes
from tactile_sim.engines import MujocoBatch, MujocoEngine

SCENE = "hand"
ENVIRONMENTS = (1, 64, 1024)
SETTLE = 100
"""Steps before anything is measured, so that there are contacts."""
STEPS = 30_000
"""Steps measured, over all environments."""
READS = 500


def main() -> None:
    """Measure and print."""
    table = Table(title=f"{SCENE}: µs")
    for column in (
        "worlds",
        "bare step",
        "step",
        "all slots",
        "flat array",
        "magnitude",
        "raw + norm",
        "ratio",
    ):
        table.add_column(column, justify="right")
    for count in ENVIRONMENTS:
        *numbers, ratio = measure(count)
        table.add_row(f"{count:,}", *(f"{number:.1f}" for number in numbers), f"{ratio:.2f}")
    Console().print(table)


def measure(count: int) -> list[float]:
    """One row of the table."""
    bare, full = engine(count, sensors=False), engine(count, sensors=True)
    name = full.contact_sensor_names[0]
    magnitude = read(lambda: full.get_contact_force_magnitude(name))
    raw = read(lambda: np.linalg.norm(full.get_sensor_data(name), axis=1))
    slots = read(lambda: full.get_contact_sensor(name))
    flat = read(lambda: full.get_sensor_value(name))
    return [step(bare), step(full), slots, flat, magnitude, raw, magnitude / raw]


def engine(count: int, sensors: bool) -> MujocoEngine | MujocoBatch:
    """Environments that have settled."""
    model = scenes.load_model(SCENE)
    if not sensors:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
    made = MujocoEngine(model) if count == 1 else MujocoBatch(model, count)
    made.step(SETTLE)
    return made


def step(made: MujocoEngine | MujocoBatch) -> float:
    """A step of one environment [µs]."""
    steps = max(STEPS // made.num_envs, 1)
    began = time.perf_counter()
    for _ in range(steps):
        made.step()
    return (time.perf_counter() - began) / (steps * made.num_envs) * 1e6


def read(call: Callable[[], object]) -> float:
    """One call [µs]: the best of five rounds."""
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(READS):
            call()
        best = min(best, (time.perf_counter() - began) / READS)
    return best * 1e6


if __name__ == "__main__":
    main()
