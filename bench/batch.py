"""Measure time and memory of many environments: physics alone, with skin, and with a signal chain.

Run as ``python bench/batch.py [environments ...] [--backend warp] [--scene hand] [--response hertz]``. An
environment takes SUBSTEPS time steps with random controls between two observations. Each value is the minimum
over interleaved repetitions, per environment and observation. Compare the ratios, since absolute values
depend on the machine. ``--processor`` measures the processor time of all threads, which hardly depends on the
load of the machine. The columns in MB are the resident memory for each environment: of the physics alone, and
of the skin without stages, with 4 and with all stages, each beyond that of the physics.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import mujoco
import numpy as np
from chain import CHAIN as ALL
from rich.console import Console
from rich.table import Table

from tactile_sim import EngineError, config
from tactile_sim.batch import BACKENDS, Batch
from tactile_sim.skin import RESPONSE_FUNCTIONS

SCENES, ENVIRONMENTS = ("hand", "infant", "gripper"), (1, 64, 1024, 4096)
SUBSTEPS, WARM_UP = 5, 8
WORK = 20_000
"""Approximate number of environment steps to measure for each row; at least three rounds are measured."""
CHAIN = {
    "noise": {"std": 0.01},
    "hysteresis": {"fraction": 0.1},
    "delay": {"time": 0.02},
    "quantisation": {"step": 0.001},
}
GRIPPER = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 .1"/>
  <body name="cube" pos="0 0 .03"><freejoint/><geom type="box" size=".02 .02 .03" mass=".1"/></body>
  <body name="left" pos="-.04 0 .04"><joint name="left" type="slide" range="0 .03" damping="1"/>
    <geom type="box" size=".01 .02 .03" mass=".1" friction="1"/></body>
  <body name="right" pos=".04 0 .04"><joint name="right" type="slide" range="-.03 0" damping="1"/>
    <geom type="box" size=".01 .02 .03" mass=".1" friction="1"/></body></worldbody>
<actuator><position joint="left" kp="300" ctrlrange="0 .03"/>
  <position joint="right" kp="300" ctrlrange="-.03 0"/></actuator></mujoco>"""
SPACING = 0.0069
"""Taxel spacing of the gripper [m], which results in 364 taxels."""


def main() -> None:
    """Measure all configurations and print a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("environments", nargs="*", type=int, default=ENVIRONMENTS)
    parser.add_argument("--backend", default="mujoco", choices=BACKENDS)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--scene", action="append", choices=SCENES)
    parser.add_argument("--response", default="elastic_foundation", choices=RESPONSE_FUNCTIONS)
    options = parser.parse_args()
    how = options.backend, options.response
    table = Table(title=f"{', '.join(how)}: µs per environment and observation, {SUBSTEPS} steps each")
    columns = ("taxels", "environments", "physics", "contacts", "skin", "sum", "4 stages",
               f"{len(ALL)} stages", "skin / physics", "with skin / physics", "with 4 / physics",
               f"with {len(ALL)} / physics", "MB physics", "MB skin", "with 4",
               f"with {len(ALL)}")  # fmt: skip
    table.add_column("scene")
    for column in columns:
        table.add_column(column, justify="right")
    # Each row runs in a new process, because memory freed by the previous row would distort its figures.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as process:
        for scene in options.scene or SCENES:
            for count in options.environments:
                row = process.submit(_row, scene, count, *how, processor=options.processor).result()
                table.add_row(scene, *row)
    Console(width=180).print(table)


def _make(scene: str, count: int, sensor: Mapping[str, Any] | None, backend: str, response: str) -> Batch:
    """Create a batch of a scene; ``sensor`` contains the stages, None removes the skin."""
    if scene == "gripper":
        scales = {} if sensor is None else {"left": SPACING, "right": SPACING}
        skin = {"scales": scales, "sensor": sensor or {}, "response_function": response}
        made = {"skin": skin, "contacts": "all" if sensor is None else "skin"}
        return Batch(mujoco.MjSpec.from_string(GRIPPER), count, backend, settings=made)
    settings = config.load(scene)
    still = replace(settings, motion=replace(settings.motion, keyframes=()))
    skin = replace(settings.skin, sensor=sensor or {}, response_function=response)
    if sensor is None:
        skin, still = replace(skin, scales={}, pads={}), replace(still, contacts="all")
    return Batch(replace(still, skin=skin), count, backend)


def _row(scene: str, count: int, *how: str, processor: bool) -> list[str]:
    clock = time.process_time if processor else time.perf_counter
    # First allocate what any number of environments needs: the code and one simulation.
    _make(scene, 1, {"*": ALL}, *how).observe()
    try:
        _physics, own = _resident(lambda: _make(scene, count, None, *how))
        batch, taken = _resident(lambda: _make(scene, count, {}, *how))
        short, with_short = _resident(lambda: _make(scene, count, {"*": CHAIN}, *how))
        full, with_full = _resident(lambda: _make(scene, count, {"*": ALL}, *how))
    except EngineError as error:
        return ["", str(count), str(error)]
    random = np.random.default_rng(0)
    low, high = batch.simulation.engine.model.actuator_ctrlrange.T
    rounds = max(3, WORK // (SUBSTEPS * count))
    parts: dict[str, Callable[[], object]] = {
        "physics": lambda: batch.worlds.advance(SUBSTEPS),
        "contacts": lambda: batch.worlds.record(),
        "observe": lambda: batch.observe().readings,
        "reduced": lambda: batch.observe(reduce="sum").readings,
        "short": lambda: (short.step(SUBSTEPS), short.observe().readings),
        "full": lambda: (full.step(SUBSTEPS), full.observe().readings),
    }
    spent: dict[str, list[float]] = {name: [] for name in parts}
    for _ in range(WARM_UP + rounds):
        batch.ctrl[:] = short.ctrl[:] = full.ctrl[:] = random.uniform(low, high, (count, len(low)))
        for name, part in parts.items():
            began = clock()
            part()
            spent[name].append(clock() - began)
    each = {part: min(times[WARM_UP:]) / count * 1e6 for part, times in spent.items()}
    skin, physics = each["observe"] - each["contacts"], each["physics"]
    return [
        str(len(batch.simulation.skin.positions)), str(count), f"{physics:.1f}", f"{each['contacts']:.1f}",
        f"{skin:.1f}", f"{each['reduced'] - each['observe']:.1f}",
        f"{each['short'] - physics - each['observe']:.1f}",
        f"{each['full'] - physics - each['observe']:.1f}", f"{skin / physics:.3f}",
        f"{(physics + each['observe']) / physics:.2f}", f"{each['short'] / physics:.2f}",
        f"{each['full'] / physics:.2f}",
        *(f"{size / count / 1e6:.2f}" for size in (own, taken - own, with_short - own, with_full - own)),
    ]  # fmt: skip


def _resident(make: Callable[[], Batch]) -> tuple[Batch, float]:
    """Create a batch and read it once; return it and the resident memory that it uses [bytes]."""
    gc.collect()
    before = _memory()
    batch = make()
    batch.step(SUBSTEPS)
    _ = batch.observe().readings
    return batch, max(_memory() - before, 0)


def _memory() -> int:
    """Return the resident memory of this process [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


if __name__ == "__main__":
    main()
