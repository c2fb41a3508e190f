"""Measure the time to build the skin of ``infant`` and to update it, with 7,000 to 100,000 taxels.

Run as ``python bench/skin.py``. All skins process the same states of a run with the built-in motion. Each
time is the minimum over several rounds. Compare the ratios, since absolute times depend on the machine. The
last table is for a box at rest on 10,201 taxels.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import product

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.engines import Contacts
from tactile_sim.simulation import Simulation
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin

FINENESS = (1.0, 0.53, 0.262)
"""Factors for the configured spacings, which result in about 7,000, 25,000 and 100,000 taxels."""
ROUNDS, STEPS, WARM_UP = 5, 400, 100
PARTS = "physics", "contacts", "taxels", "wrenches", "output", "loads"
LOADS = 10
"""Maximum number of loads in the table for a single state."""
REPEATS, CHUNKS = 20, 100


def main() -> None:
    """Run all measurements and print their tables."""
    simulation = Simulation(config.load("infant"))
    skins = _build(simulation)
    _run(simulation, skins)
    _one_state(simulation, skins)
    _flat_box()


def _build(simulation: Simulation) -> list[Skin]:
    model, scales = simulation.engine.model, {b.body_id: b.spacing for b in simulation.skin.pads}
    skins = []
    table = Table(title="construction")
    for column in ("taxels", "ms"):
        table.add_column(column, justify="right")
    for fineness in FINENESS:
        began = time.perf_counter()
        skins.append(Skin(model, {body: fineness * spacing for body, spacing in scales.items()}))
        spent = time.perf_counter() - began
        table.add_row(str(len(skins[-1].positions)), f"{spent * 1e3:.0f}")
    Console().print(table)
    return skins


def _run(simulation: Simulation, skins: list[Skin]) -> None:
    """Measure and print the time to compute float32 readings from contacts, in the same run for each skin."""
    runs = {}
    for _, response, k in product(range(ROUNDS), RESPONSE_FUNCTIONS, range(len(skins))):
        run = runs.setdefault((response, k), {part: np.full(STEPS, np.inf) for part in PARTS})
        _spend(simulation, skins[k], response, run)
    runs = {key: {part: times.mean() for part, times in run.items()} for key, run in runs.items()}
    mean = {part: np.min([run[part] for run in runs.values()]) for part in PARTS}
    shown = [f"{part} {mean[part] * 1e6:.1f} µs" for part in ("physics", "contacts", "wrenches")]
    table = Table(title=f"infant, {mean['loads']:.0f} loads: {', '.join(shown)}")
    table.add_column("response")
    for column in ("taxels", "µs", "of physics", "empty output", "growth without output"):
        table.add_column(column, justify="right")
    for (response, k), run in runs.items():
        first = runs[response, 0]
        table.add_row(
            response,
            str(len(skins[k].positions)),
            f"{run['taxels'] * 1e6:.1f}",
            f"{run['taxels'] / mean['physics']:.3f}",
            f"{run['output'] * 1e6:.1f}",
            f"{(run['taxels'] - run['output']) / (first['taxels'] - first['output']):.2f}",
        )
    Console().print(table)


def _spend(simulation: Simulation, skin: Skin, response: str, least: dict[str, np.ndarray]) -> None:
    """Simulate the run once and update the minimum time of each part of a step.

    Args:
        simulation: The simulation, which is reset.
        skin: The skin to measure.
        response: Name of the response function.
        least: Minimum times (steps,) [s] so far, by part; "loads" counts loads instead.
    """
    engine, clock = simulation.engine, time.perf_counter
    read_taxels = skin.reader("force_vector", response, np.float32)
    simulation.reset()
    for step in range(WARM_UP + STEPS):
        began = clock()
        simulation.apply_commands()
        engine.forward()
        between = clock()
        contacts = engine.contacts()
        read = clock()
        read_taxels(contacts, engine.body_positions, engine.body_rotations)
        felt = clock()
        skin.body_wrenches(contacts, engine.body_positions, engine.body_rotations)
        wrenches = clock()
        _ = np.zeros((len(skin.positions), 3), np.float32)
        output = clock()
        engine.integrate()
        simulation.steps_since_reset += 1
        end = clock()
        if step >= WARM_UP:
            loads = len(skin.loads(contacts, engine.body_positions, engine.body_rotations))
            spent = (
                between - began + end - output, read - between, felt - read, wrenches - felt,
                output - wrenches, loads,
            )  # fmt: skip
            for part, value in zip(PARTS, spent, strict=True):
                times = least[part]
                times[step - WARM_UP] = min(times[step - WARM_UP], value)


def _one_state(simulation: Simulation, skins: list[Skin]) -> None:
    """Print the time of each part of a reading for a single state, with the data in the CPU caches."""
    engine = simulation.engine
    engine.forward()
    poses = engine.body_positions, engine.body_rotations
    contacts = engine.contacts()
    while len(skins[0].loads(contacts, *poses)) > LOADS:
        contacts = Contacts(contacts.values[:-1], contacts.ids[:-1])
    columns = [_parts(skin, contacts, poses) for skin in skins]
    table = Table(title=f"one state, {len(skins[0].loads(contacts, *poses))} loads, µs")
    table.add_column("part")
    for skin in skins:
        table.add_column(f"{len(skin.positions)} taxels", justify="right")
    for part in columns[0]:
        table.add_row(part, *(f"{column[part]:.1f}" for column in columns))
    Console().print(table)


def _parts(skin: Skin, contacts: Contacts, poses: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """Return the time of each part of a reading [µs], by description of the part."""
    loads, shares = skin.loads(contacts, *poses), skin.shares(skin.loads(contacts, *poses))
    parts: dict[str, Callable[[], object]] = {"contacts to loads": lambda: skin.loads(contacts, *poses)}
    for response in RESPONSE_FUNCTIONS:
        parts[f"shares: {response}"] = partial(skin.shares, loads, response)
    for touch in TOUCH_FUNCTIONS:
        parts[f"{touch} of shares, float32"] = partial(
            skin.readings_from_loads, loads, touch, shares, dtype=np.float32
        )
    for response in RESPONSE_FUNCTIONS:
        read = skin.reader("force_vector", response, np.float32)
        parts[f"contacts to taxels at once: {response}"] = partial(read, contacts, *poses)
    parts["empty output"] = lambda: np.zeros((len(skin.positions), 3), np.float32)
    return {name: _time(part) for name, part in parts.items()}


def _flat_box() -> None:
    """Measure how long each response function takes for a box that rests on all taxels of a plate's top.

    The time of a physics step is printed for comparison.
    """
    spec = mujoco.MjSpec.from_string("""<mujoco><option cone="elliptic"/><worldbody>
        <body name="plate" pos="0 0 -.01"><geom type="box" size=".05 .05 .01"/></body>
        <body pos="0 0 .01"><freejoint/><geom type="box" size=".06 .06 .01" mass="1"/></body>
        </worldbody></mujoco>""")
    simulation = Simulation(spec, {"skin": {"scales": {"plate": 0.001}}})
    simulation.step(500)
    engine, skin = simulation.engine, simulation.skin
    parts: dict[str, Callable[[], object]] = {"physics": lambda: (engine.forward(), engine.integrate())}
    engine.forward()
    state = engine.contacts(), engine.body_positions, engine.body_rotations
    for response in RESPONSE_FUNCTIONS:
        parts[response] = partial(skin.reader("force_vector", response, np.float32), *state)
    pressed = skin.readings_from_contacts(*state, response="elastic_foundation").any(axis=1).sum()
    table = Table(title=f"box at rest on {pressed} taxels, µs")
    for column in ("part", "µs"):
        table.add_column(column, justify="left" if column == "part" else "right")
    for name, part in parts.items():
        table.add_row(name, f"{_time(part):.1f}")
    Console().print(table)


def _time(part: Callable[[], object]) -> float:
    part()
    least = np.inf
    for _ in range(CHUNKS):
        began = time.perf_counter()
        for _ in range(REPEATS):
            part()
        least = min(least, time.perf_counter() - began)
    return least / REPEATS * 1e6


if __name__ == "__main__":
    main()
