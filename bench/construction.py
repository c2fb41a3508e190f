"""Measure the time and memory to build a skin of 25,000 taxels.

Run as ``python bench/construction.py``. The cases are ``infant``, whose bodies have up to nine geoms,
single geoms, and a body with 30 geoms. Memory is the
increase in peak resident memory; each case runs in a separate process.
"""

from __future__ import annotations

import multiprocessing
import resource
import time

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Skin

TAXELS = 25_000
GEOMS = {
    "sphere": 'size=".1"',
    "capsule": 'size=".05 .1"',
    "cylinder": 'size=".05 .1"',
    "ellipsoid": 'size=".1 .07 .05"',
    "box": 'size=".1 .07 .05"',
    "mesh": 'mesh="pebble"',
    "30 geoms": "",
}


def main() -> None:
    """Measure all cases and print a table."""
    table = Table(title=f"skin of about {TAXELS} taxels")
    for column in ("body", "taxels", "s", "MB"):
        table.add_column(column, justify="left" if column == "body" else "right")
    context = multiprocessing.get_context("spawn")
    for case in ("infant", *GEOMS):
        with context.Pool(1) as pool:
            taxels, seconds, grown = pool.apply(measure, (case,))
        table.add_row(case, str(taxels), f"{seconds:.2f}", f"{grown:.0f}")
    Console().print(table)


def measure(case: str) -> tuple[int, float, float]:
    """Return the number of taxels, the construction time [s] and the increase in memory [MiB]."""
    if case == "infant":
        simulation = Simulation(config.load("infant"))
        model = simulation.engine.model
        scales = {body.body_id: body.spacing for body in simulation.skin.pads}
    else:
        model, scales = model_of(case), {1: 0.01}
    coarse = Skin(model, scales)
    fineness = np.sqrt(len(coarse.positions) / TAXELS)
    before = peak()
    began = time.perf_counter()
    skin = Skin(model, {body: spacing * fineness for body, spacing in scales.items()})
    return len(skin.positions), time.perf_counter() - began, peak() - before


def model_of(case: str) -> mujoco.MjModel:
    """Return a model of one body with a single geom of the case's type, or with 30 geoms."""
    rng = np.random.default_rng(0)
    pebble = " ".join(map(str, (rng.normal(size=(200, 3)) * [0.1, 0.07, 0.05]).ravel()))
    geoms = f'<geom type="{case}" {GEOMS[case]}/>'
    if case == "30 geoms":
        kinds = [kind for kind in GEOMS if kind not in ("mesh", case)]
        geoms = "".join(
            f'<geom type="{kinds[k % 5]}" size="{" ".join(map(str, rng.uniform(0.02, 0.06, 3)))}" '
            f'pos="{" ".join(map(str, rng.uniform(-0.15, 0.15, 3)))}"/>'
            for k in range(30)
        )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="pebble" vertex="{pebble}"/></asset><worldbody><body><freejoint/>'
        f"{geoms}</body></worldbody></mujoco>"
    )


def peak() -> float:
    """Return the peak resident memory so far [MiB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
