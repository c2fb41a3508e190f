"""Measure the cost of contact sensors on ``hand``: steps and readings in 1 to 1,024 environments.

Run as ``python bench/sensors.py``. Compare the ratios, since absolute times depend on the machine. The time
of a step is per environment.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import scenes
from tactile_sim.engines import Engine, Environments, make, make_many

SCENE = "hand"
ENVIRONMENTS = (1, 64, 1024)
SETTLE = 100
"""Number of steps before the measurement, during which contacts form."""
STEPS = 30_000
"""Total number of measured steps, over all environments."""
READS = 500
WANTED = 1.2
"""Maximum relative cost of `get_contact_force_magnitude` in 1,024 environments.

The reference is the cost of reading the sensor's raw data and computing norms in NumPy.
"""


def main() -> None:
    """Measure all engines and print a table."""
    table = Table(title=f"{SCENE}: µs")
    for column in (
        "engine",
        "environments",
        "bare step",
        "step",
        "all slots",
        "flat array",
        "magnitude",
        "raw + norm",
        f"ratio, ≤ {WANTED}",
    ):
        table.add_column(column, justify="right")
    for name, count in itertools.product(("mujoco", "motrix"), ENVIRONMENTS):
        if name == "motrix" and find_spec("motrixsim") is None:
            continue
        *numbers, ratio = measure(name, count)
        verdict = f"[red]{ratio:.2f}: missed" if count == 1024 and ratio > WANTED else f"{ratio:.2f}"
        table.add_row(name, f"{count:,}", *(f"{number:.1f}" for number in numbers), verdict)
    Console(width=100).print(table)


def measure(engine_name: str, count: int) -> list[float]:
    """Return the times [µs] and the ratio in the table row for an engine with ``count`` environments."""
    bare, full = engine(engine_name, count, sensors=False), engine(engine_name, count, sensors=True)
    name = full.contact_sensor_names[0]
    magnitude = read(lambda: full.get_contact_force_magnitude(name))
    raw = read(lambda: np.linalg.norm(full.get_sensor_data(name), axis=1))
    slots = read(lambda: full.get_contact_sensor(name))
    flat = read(lambda: full.get_sensor_value(name))
    return [step(bare), step(full), slots, flat, magnitude, raw, magnitude / raw]


def engine(name: str, count: int, sensors: bool) -> Engine | Environments:
    """Return environments, with or without contact sensors, after `SETTLE` steps."""
    spec, model = scenes.load_scene(SCENE)
    if not sensors:
        for sensor in list(spec.sensors):
            spec.delete(sensor)
        model = spec.compile()
    made = make(name, spec, model) if count == 1 else make_many(name, spec, model, count)
    made.step(SETTLE)
    return made


def step(made: Engine | Environments) -> float:
    """Return the time of a step per environment [µs]."""
    steps = max(STEPS // made.num_envs, 1)
    names = made.contact_sensor_names[:1]
    began = time.perf_counter()
    for _ in range(steps):
        made.step()
        # MuJoCo computes all sensors in each step, but MotrixSim only when one of them is read.
        for name in names:
            made.get_sensor_data(name)
    return (time.perf_counter() - began) / (steps * made.num_envs) * 1e6


def read(call: Callable[[], object]) -> float:
    """Return the time of one call in the fastest of five rounds [µs]."""
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(READS):
            call()
        best = min(best, (time.perf_counter() - began) / READS)
    return best * 1e6


if __name__ == "__main__":
    main()
